//! A parser of expressions by recursive descent:
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = ("-" | "+") signed | power
//! power   = atom [ "^" signed ]
//! atom    = number | "z" | "pi" | "e" | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! So -2^2 is -4, 2^3^2 is 512 and 2^-1 is 0.5.

use super::{Binary, Constant, Expression, Function, Operation};
use crate::input::nearest_first;

/// How deep parentheses, functions, signs and powers may be nested.
const DEEPEST: usize = 200;

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::model) struct ParseError {
    /// The place, in characters from 0.
    pub(in crate::model) position: usize,
    /// What is wrong there, and what was expected.
    pub(in crate::model) problem: String,
    /// Whether a name was not known.
    pub(in crate::model) unknown_name: bool,
}

/// The expression that a text is.
pub(in crate::model) fn parse(text: &str) -> Result<Expression, ParseError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        operations: Vec::new(),
    };
    parser.sum()?;
    match parser.peek() {
        None => Ok(Expression {
            operations: parser.operations,
        }),
        Some(')') => Err(parser.error("this `)` closes nothing")),
        Some(',') => Err(parser.error("a comma outside the arguments of a function")),
        Some(_) => Err(parser.no_operator()),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The place of the next character, in bytes.
    at: usize,
    depth: usize,
    operations: Vec<Operation>,
}

impl<'a> Parser<'a> {
    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes the next character if it is this one, of ASCII.
    fn take(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        self.at += usize::from(found);
        found
    }

    fn error(&self, problem: impl Into<String>) -> ParseError {
        self.error_at(self.at, problem)
    }

    fn error_at(&self, at: usize, problem: impl Into<String>) -> ParseError {
        ParseError {
            position: self.text[..at].chars().count(),
            problem: problem.into(),
            unknown_name: false,
        }
    }

    fn sum(&mut self) -> Result<(), ParseError> {
        self.product()?;
        loop {
            let operation = match self.peek() {
                Some('+') => Binary::Add,
                Some('-') => Binary::Subtract,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.operations.push(Operation::Binary(operation));
        }
    }

    fn product(&mut self) -> Result<(), ParseError> {
        self.signed()?;
        loop {
            let operation = match self.peek() {
                Some('*') => Binary::Multiply,
                Some('/') => Binary::Divide,
                _ => return Ok(()),
            };
            self.at += 1;
            if operation == Binary::Multiply && self.rest().starts_with('*') {
                return Err(self.error_at(self.at - 1, "write ^ for powers, not **"));
            }
            self.signed()?;
            self.operations.push(Operation::Binary(operation));
        }
    }

    /// Everything that is nested passes here, so this is where its depth is limited.
    fn signed(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("nested more than {DEEPEST} levels deep")));
        }
        if self.take('-') {
            self.signed()?;
            self.operations.push(Operation::Negate);
        } else if self.take('+') {
            self.signed()?;
        } else {
            self.power()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Result<(), ParseError> {
        self.atom()?;
        if self.take('^') {
            self.signed()?;
            self.operations.push(Operation::Binary(Binary::Power));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            Some('(') => {
                let open = self.at;
                self.at += 1;
                self.sum()?;
                self.close(open)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            found => Err(self.no_operand(found)),
        }
    }

    /// Takes the `)` that belongs to the `(` at `open`.
    fn close(&mut self, open: usize) -> Result<(), ParseError> {
        if self.take(')') {
            return Ok(());
        }
        match self.peek() {
            None => Err(self.error_at(open, "this `(` is never closed")),
            Some(',') => Err(self.error("expected `)`: no more arguments are taken here")),
            Some(_) => Err(self.no_operator()),
        }
    }

    fn number(&mut self) -> Result<(), ParseError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            let count = bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            from + count
        };
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if end == 1 && bytes[0] == b'.' {
            return Err(self.error("expected digits beside the decimal point"));
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = end + 1 + sign;
            if exponent < bytes.len() && digits(exponent) > exponent {
                end = digits(exponent);
            }
        }
        match rest[..end].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.operations.push(Operation::Number(value));
                self.at += end;
                Ok(())
            }
            _ => Err(self.error("this number is too large")),
        }
    }

    fn name(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let name = &rest[..end];
        self.at += end;
        let called = self.peek() == Some('(');
        let function = Function::ALL.iter().find(|(known, _)| *known == name);
        let constant = Constant::ALL.iter().find(|(known, _)| *known == name);
        match (function, constant) {
            (Some(&(_, function)), _) if called => self.call(function),
            (Some(_), _) => Err(self.error(format!("expected `(` after the function `{name}`"))),
            (None, _) if called && (name == "z" || constant.is_some()) => Err(self.error(format!(
                "`{name}` is not a function; write * to multiply: {name}*(…)"
            ))),
            (None, Some(&(_, constant))) => {
                self.operations.push(Operation::Constant(constant));
                Ok(())
            }
            (None, None) if name == "z" => {
                self.operations.push(Operation::Variable);
                Ok(())
            }
            (None, None) => Err(self.unknown(start, name, called)),
        }
    }

    fn unknown(&self, start: usize, name: &str, called: bool) -> ParseError {
        let problem = if called {
            let known = Function::ALL.map(|(known, _)| known.to_owned());
            format!(
                "there is no function `{name}`; known are {}",
                nearest_first(name, &known)
            )
        } else {
            format!("`{name}` is not known; the variable is `z`, constants are `pi` and `e`")
        };
        ParseError {
            unknown_name: true,
            ..self.error_at(start, problem)
        }
    }

    fn call(&mut self, function: Function) -> Result<(), ParseError> {
        let open = self.at;
        self.at += 1;
        let takes = function.arguments();
        for argument in 1..=takes {
            self.sum()?;
            if argument < takes && !self.take(',') {
                return Err(match self.peek() {
                    None => self.error_at(open, "this `(` is never closed"),
                    Some(')') => self.error(format!(
                        "expected a comma: `{}` takes {takes} arguments",
                        function.name()
                    )),
                    Some(_) => self.no_operator(),
                });
            }
        }
        self.close(open)?;
        self.operations.push(Operation::Call(function));
        Ok(())
    }

    /// Where a value was expected.
    fn no_operand(&self, found: Option<char>) -> ParseError {
        const EXPECTED: &str = "expected a number, z, pi, e, a function or `(`";
        self.error(match found {
            None => format!("{EXPECTED}, but the expression ends here"),
            Some(c) => match replacement(c) {
                Some(written) => format!("`{c}` is not understood; write {written}"),
                None => format!("{EXPECTED}, not `{c}`"),
            },
        })
    }

    /// Where an operator was expected.
    fn no_operator(&self) -> ParseError {
        let next = self.rest().chars().next();
        self.error(match next {
            Some(c) if replacement(c).is_some() => {
                format!(
                    "`{c}` is not understood; write {}",
                    replacement(c).unwrap_or_default()
                )
            }
            Some(c) if c.is_alphanumeric() || "(._".contains(c) => {
                "expected an operator; write * to multiply".to_owned()
            }
            Some(c) => format!("expected an operator (+ - * / ^), not `{c}`"),
            None => "expected an operator".to_owned(),
        })
    }
}

/// What to write for a sign of print that is no part of expressions.
fn replacement(sign: char) -> Option<&'static str> {
    Some(match sign {
        '−' | '–' => "-",
        '×' | '·' | '⋅' => "*",
        '÷' => "/",
        'π' => "pi",
        '²' => "^2",
        '³' => "^3",
        '√' => "sqrt(…)",
        '|' => "abs(…)",
        '[' | '{' => "(",
        ']' | '}' => ")",
        _ => return None,
    })
}
