//! Expressions in z.
//!
//! An expression is kept as a list of operations on a stack, operands first: no depth of nesting can
//! exhaust the memory of whoever evaluates, shows or drops it.

mod parse;

use std::fmt;

pub(super) use parse::parse;

/// An expression in z.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    operations: Vec<Operation>,
}

/// One operation; it takes its operands from the top of the stack and leaves its value there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Number(f64),
    Constant(Constant),
    Variable,
    Negate,
    Binary(Binary),
    Call(Function),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Constant {
    Pi,
    E,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// A function of one or two arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Sin,
    Cos,
    Exp,
    Log,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Frac,
    Min,
    Max,
    Pow,
}

impl Constant {
    const ALL: [(&'static str, Constant); 2] = [("pi", Constant::Pi), ("e", Constant::E)];

    fn name(self) -> &'static str {
        match self {
            Constant::Pi => "pi",
            Constant::E => "e",
        }
    }

    fn value(self) -> f64 {
        match self {
            Constant::Pi => std::f64::consts::PI,
            Constant::E => std::f64::consts::E,
        }
    }
}

impl Function {
    const ALL: [(&'static str, Function); 12] = [
        ("sin", Function::Sin),
        ("cos", Function::Cos),
        ("exp", Function::Exp),
        ("log", Function::Log),
        ("sqrt", Function::Sqrt),
        ("abs", Function::Abs),
        ("sign", Function::Sign),
        ("floor", Function::Floor),
        ("frac", Function::Frac),
        ("min", Function::Min),
        ("max", Function::Max),
        ("pow", Function::Pow),
    ];

    fn name(self) -> &'static str {
        // Every function is in the list, in the order of its declaration.
        Function::ALL[self as usize].0
    }

    fn arguments(self) -> usize {
        match self {
            Function::Min | Function::Max | Function::Pow => 2,
            _ => 1,
        }
    }

    /// The value at `x`, and at `x`, `y` for functions of two arguments.
    fn value(self, x: f64, y: f64) -> f64 {
        match self {
            Function::Sin => libm::sin(x),
            Function::Cos => libm::cos(x),
            Function::Exp => libm::exp(x),
            Function::Log => libm::log(x),
            Function::Sqrt => x.sqrt(),
            Function::Abs => x.abs(),
            // Unlike `f64::signum`, 0 at 0.
            Function::Sign if x == 0.0 => 0.0,
            Function::Sign => x.signum(),
            Function::Floor => x.floor(),
            Function::Frac => x - x.floor(),
            // Unlike `f64::min` and `f64::max`, these hide no NaN.
            Function::Min if x < y || x.is_nan() => x,
            Function::Max if x > y || x.is_nan() => x,
            Function::Min | Function::Max => y,
            Function::Pow => libm::pow(x, y),
        }
    }
}

impl Binary {
    fn value(self, x: f64, y: f64) -> f64 {
        match self {
            Binary::Add => x + y,
            Binary::Subtract => x - y,
            Binary::Multiply => x * y,
            Binary::Divide => x / y,
            Binary::Power => libm::pow(x, y),
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Binary::Add => " + ",
            Binary::Subtract => " - ",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Power => "^",
        }
    }

    /// How tightly it binds, and how tightly its left and right operand must.
    fn binding(self) -> (Binding, Binding, Binding) {
        match self {
            Binary::Add | Binary::Subtract => (Binding::Sum, Binding::Sum, Binding::Product),
            Binary::Multiply | Binary::Divide => {
                (Binding::Product, Binding::Product, Binding::Negation)
            }
            Binary::Power => (Binding::Power, Binding::Atom, Binding::Negation),
        }
    }
}

/// How tightly an expression holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    Negation,
    Power,
    Atom,
}

impl Expression {
    /// Whether it is nothing but z.
    pub(super) fn is_variable(&self) -> bool {
        self.operations == [Operation::Variable]
    }

    /// The value at `z`; infinite or NaN where it has none.
    pub(super) fn value(&self, z: f64) -> f64 {
        let mut stack = Vec::new();
        // The parser leaves every operation its operands; were one missing, NaN would tell.
        let pop = |stack: &mut Vec<f64>| stack.pop().unwrap_or(f64::NAN);
        for operation in &self.operations {
            let value = match operation {
                Operation::Number(value) => *value,
                Operation::Constant(constant) => constant.value(),
                Operation::Variable => z,
                Operation::Negate => -pop(&mut stack),
                Operation::Binary(binary) => {
                    let y = pop(&mut stack);
                    binary.value(pop(&mut stack), y)
                }
                Operation::Call(function) if function.arguments() == 2 => {
                    let y = pop(&mut stack);
                    function.value(pop(&mut stack), y)
                }
                Operation::Call(function) => function.value(pop(&mut stack), 0.0),
            };
            stack.push(value);
        }
        pop(&mut stack)
    }
}

/// The expression with no more parentheses than it needs; parsing it gives the same expression.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack: Vec<(String, Binding)> = Vec::new();
        let pop = |stack: &mut Vec<(String, Binding)>, least: Binding| {
            let (text, binding) = stack.pop().unwrap_or((String::new(), Binding::Atom));
            if binding < least {
                format!("({text})")
            } else {
                text
            }
        };
        for operation in &self.operations {
            let item = match operation {
                Operation::Number(value) => (show(*value), Binding::Atom),
                Operation::Constant(constant) => (constant.name().to_owned(), Binding::Atom),
                Operation::Variable => ("z".to_owned(), Binding::Atom),
                Operation::Negate => {
                    let operand = pop(&mut stack, Binding::Negation);
                    (format!("-{operand}"), Binding::Negation)
                }
                Operation::Binary(binary) => {
                    let (own, left, right) = binary.binding();
                    let right = pop(&mut stack, right);
                    let mut text = pop(&mut stack, left);
                    text += binary.symbol();
                    text += &right;
                    (text, own)
                }
                Operation::Call(function) => {
                    let last = pop(&mut stack, Binding::Sum);
                    let name = function.name();
                    let text = if function.arguments() == 2 {
                        let first = pop(&mut stack, Binding::Sum);
                        format!("{name}({first}, {last})")
                    } else {
                        format!("{name}({last})")
                    };
                    (text, Binding::Atom)
                }
            };
            stack.push(item);
        }
        f.write_str(&pop(&mut stack, Binding::Sum))
    }
}

/// A number as short as it is read back the same, with an exponent where it is far from 1.
fn show(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str, z: f64) -> f64 {
        parse(text).unwrap().value(z)
    }

    #[test]
    fn operators_bind_as_usual() {
        for (text, expected) in [
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("(-2)^2", 4.0),
            ("8/4/2", 1.0),
            ("8/4*2", 4.0),
            ("1 - 2 - 3", -4.0),
            ("1 - (2 - 3)", 2.0),
            ("2 + 3*4", 14.0),
            ("2*-3", -6.0),
            ("--3", 3.0),
            ("+3 - -4", 7.0),
            ("-2*3^2", -18.0),
            ("1e-3 + 2.5E+1 + .5 + 2.", 27.501),
        ] {
            assert_eq!(value(text, 0.0), expected, "{text}");
        }
    }

    #[test]
    fn functions_are_what_they_are_called() {
        for (text, expected) in [
            ("sin(pi/2) + cos(pi)", 0.0),
            ("log(exp(2))", 2.0),
            ("log(e^3)", 3.0),
            ("sqrt(2.25)", 1.5),
            ("abs(-3) + abs(3)", 6.0),
            ("sign(-0.1) + 10*sign(0) + 100*sign(7)", 99.0),
            ("floor(-1.5) + floor(1.5)", -1.0),
            ("frac(2.75) + frac(-0.25)", 1.5),
            ("min(1, 2) + 10*min(2, 1)", 11.0),
            ("max(1, 2) + 10*max(2, 1)", 22.0),
            ("pow(2, 10)", 1024.0),
            ("z - z^4", 0.4375),
        ] {
            let difference = value(text, 0.5) - expected;
            assert!(difference.abs() < 1e-15, "{text} is off by {difference}");
        }
    }

    #[test]
    fn nothing_hides_what_is_not_a_number() {
        for text in [
            "min(log(-1), 1)",
            "min(1, log(-1))",
            "max(sqrt(-1), 1)",
            "max(1, 0/0)",
            "sign(0/0)",
        ] {
            assert!(value(text, 0.5).is_nan(), "{text}");
        }
    }

    #[test]
    fn shown_with_no_more_parentheses_than_needed() {
        for (text, expected) in [
            ("z-z^4", "z - z^4"),
            ("((z))-((z^(4)))", "z - z^4"),
            ("(-2)^2-(3-(4+5))", "(-2)^2 - (3 - (4 + 5))"),
            ("2^(3^2)*(2^3)^2", "2^3^2*(2^3)^2"),
            ("z/(2*pi)/3", "z/(2*pi)/3"),
            ("min( z ,1e-9)*1e300", "min(z, 1e-9)*1e300"),
            ("-(z+1)*-z", "-(z + 1)*-z"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn no_depth_exhausts_the_stack() {
        for text in ["(", "-", "sin(", "2^", "min(1,"] {
            let error = parse(&text.repeat(100_000)).unwrap_err();
            assert!(error.problem.contains("200 levels"), "{}", error.problem);
        }
        let sum = parse(&vec!["z"; 100_000].join("+")).unwrap();
        assert_eq!(sum.value(0.5), 50_000.0);
        assert_eq!(sum.to_string().len(), 100_000 + 99_999 * 3);
        let nested = format!("{}z{}", "(".repeat(199), ")".repeat(199));
        assert!(parse(&nested).unwrap().is_variable());
    }

    proptest! {
        #[test]
        fn whatever_is_parsed_is_shown_as_itself(
            text in "([-+*/^(), ]|z|pi|e|2|0\\.1|1e9|sin\\(|max\\(|min\\(z,){1,12}"
        ) {
            if let Ok(expression) = parse(&text) {
                prop_assert_eq!(parse(&expression.to_string()).unwrap(), expression);
            }
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,20}") {
            if let Err(error) = parse(&text) {
                prop_assert!(error.position <= text.chars().count());
            }
        }
    }
}
