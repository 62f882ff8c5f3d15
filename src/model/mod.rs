pub enum Quantile {
    Affine { start: u32, width: u32 },
    Nodes(Vec<u32>),
    Empirical(Scores),
}
pub struct Scores {
    pub q30: Vec<u32>,
    pub run: Vec<u32>,
}
pub enum Response {
    Calibrated,
    Cells { cells: u32, limits: Vec<[u32; 2]> },
}
impl std::fmt::Debug for Quantile {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl std::fmt::Debug for Response {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl Quantile {
    #[inline]
    pub fn q30(&self, u: u32) -> u32 {
        match self {
            Quantile::Affine { start, width } => {
                start + ((u64::from(*width) * u64::from(u) + (1 << 31)) >> 32) as u32
            }
            Quantile::Nodes(_) => todo!(),
            Quantile::Empirical(s) => s.q30[(u64::from(u) * s.q30.len() as u64 >> 32) as usize],
        }
    }
}
impl Response {
    #[inline]
    pub fn q30(&self, q: u32) -> u32 {
        match self {
            Response::Calibrated => q,
            Response::Cells { cells, limits } => {
                let scaled = u64::from(q) * u64::from(*cells);
                let index = (scaled >> 30).min(u64::from(*cells) - 1);
                let rest = (scaled - (index << 30)) as i64;
                let [l, r] = limits[index as usize];
                (i64::from(l) + ((i64::from(r) - i64::from(l)) * rest + (1 << 29) >> 30)) as u32
            }
        }
    }
}
