//! What one of several ranks has of a table: its rows of the columns, of what is predicted, and of the offset.

use std::ops::Range;
use std::path::Path;

use melmo_data::Csr;
use melmo_tasks::regress::{Cells, Loss};

use super::table::known_columns;
use crate::args::{Missing, Regress};
use crate::error::Error;
use crate::input::Inputs;
use crate::ranks::{Crew, Lines, is_lines};
use crate::rows::File;

/// A sparse table stays sparse where at most this share of its cells is stored, as on one machine.
const SPARSE: f64 = 0.25;

/// A rank's rows, without those of which a cell is missing.
pub struct Share {
    /// The names of the columns.
    pub names: Vec<String>,
    pub x: Cells,
    /// Rows here, and of all ranks.
    pub rows: usize,
    pub all: usize,
    /// Of several targets, all rows of one after another.
    pub y: Vec<f64>,
    /// The names of the targets, where they are columns or several.
    pub targets: Vec<String>,
    pub offset: Option<Vec<f64>>,
    /// Rows of all ranks that are left out, since a cell is missing.
    pub dropped: usize,
}

/// Where the table is: a file whose rows can be read, or one whose lines were.
enum Opened {
    Rows(Box<File>),
    Lines(Lines),
}

/// The rows of a rank.
fn own(rows: usize, crew: &Crew) -> Range<usize> {
    melmo_mpi::share(rows, crew.rank(), crew.size())
}

/// What a column of the file becomes.
#[derive(Clone, Copy)]
enum Becomes {
    Nothing,
    Cell(usize),
    Target(usize),
    Offset,
}

impl Opened {
    fn read(path: &Path, inputs: &Inputs, crew: &mut Crew) -> Result<Self, Error> {
        if !is_lines(path) {
            return crew.agree(File::of_ranks(path)).map(|file| Self::Rows(Box::new(file)));
        }
        let size = crew.size();
        let share = |rows: usize, rank: usize| melmo_mpi::share(rows, rank, size);
        Lines::read(path, &inputs.limits(), share, crew).map(Self::Lines)
    }

    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Rows(file) => file.shape(),
            Self::Lines(lines) => lines.shape,
        }
    }

    /// The names that the file has; none where it has none.
    fn header(&self) -> Vec<String> {
        if let Self::Rows(file) = self { file.names() } else { Vec::new() }
    }

    /// Hands on row, column and number of what is stored of some rows, the first of them row 0.
    fn read_rows(&self, rows: Range<usize>, mut each: impl FnMut(usize, usize, f64)) -> Result<(), Error> {
        match self {
            Self::Lines(lines) => lines.matrix.iter().for_each(|(i, j, value)| each(i, j, value)),
            Self::Rows(file) => {
                let (mut at, cols) = (0, file.shape().1);
                file.read(rows.start, rows.len(), |numbers| {
                    for &value in numbers {
                        each(at / cols, at % cols, value);
                        at += 1;
                    }
                })?;
            }
        }
        Ok(())
    }
}

impl Regress {
    /// Reads this rank's rows; every rank comes here, in step.
    pub(super) fn share(&self, inputs: &mut Inputs, crew: &mut Crew) -> Result<Share, Error> {
        let opened = Opened::read(&self.input, inputs, crew)?;
        crew.agree(inputs.remember_file(&self.input))?;
        let ((rows, cols), header) = (opened.shape(), opened.header());
        let all_names = match header.is_empty() {
            true => (1..=cols).map(|column| format!("x{column}")).collect(),
            false => header.clone(),
        };
        let found = self.target_columns(&header);
        let (columns_of_y, targets) = crew.agree(found)?;
        let offset = self.offset.as_ref().map(|name| self.find(&all_names, name)).transpose();
        let offset = crew.agree(offset)?;
        let taken: Vec<usize> = columns_of_y.iter().copied().chain(offset).collect();
        let used = crew.agree(self.columns(&all_names, &taken))?;
        let mine = own(rows, crew);
        let mut becomes = vec![Becomes::Nothing; cols];
        used.iter().enumerate().for_each(|(place, &column)| becomes[column] = Becomes::Cell(place));
        columns_of_y.iter().enumerate().for_each(|(place, &column)| becomes[column] = Becomes::Target(place));
        offset.iter().for_each(|&column| becomes[column] = Becomes::Offset);
        let read = self.rows_of(&opened, mine.clone(), (&becomes, used.len(), columns_of_y.len()));
        let (x, mut y, offsets) = crew.agree(read)?;
        let names = used.iter().map(|&column| all_names[column].clone()).collect();
        let mut targets = targets;
        if columns_of_y.is_empty() {
            (y, targets) = self.share_of_target(rows, mine.clone(), inputs, crew)?;
        }
        let share =
            Share { names, x, rows: mine.len(), all: rows, y, targets, offset: offset.map(|_| offsets), dropped: 0 };
        self.known(share, mine.start, crew)
    }

    /// The columns that are predicted, and what they are called; none where that is a file.
    fn target_columns(&self, header: &[String]) -> Result<(Vec<usize>, Vec<String>), Error> {
        let found = |names: Vec<String>| {
            let columns = names.iter().map(|name| self.find(header, name)).collect::<Result<Vec<_>, _>>()?;
            match columns.iter().enumerate().find(|(at, column)| columns[..*at].contains(column)) {
                Some((at, _)) => Err(Error::input(&self.input, format!("`{}` is predicted twice", names[at]))),
                None => Ok((columns, names)),
            }
        };
        let parts: Vec<String> = self.target.split(',').map(|part| part.trim().to_owned()).collect();
        match () {
            () if header.contains(&self.target) => found(vec![self.target.clone()]),
            () if Path::new(&self.target).exists() => Ok((Vec::new(), Vec::new())),
            () if parts.len() > 1 && parts.iter().any(|part| header.contains(part)) => found(parts),
            () => {
                let known =
                    if header.is_empty() { "it has no header".into() } else { known_columns(header, &self.target) };
                let message = format!("no file and no column is called `{}`; {known}", self.target);
                Err(Error::input(&self.input, message))
            }
        }
    }

    /// Cells, targets and offsets of some rows.
    fn rows_of(
        &self,
        opened: &Opened,
        rows: Range<usize>,
        (becomes, width, targets): (&[Becomes], usize, usize),
    ) -> Result<(Cells, Vec<f64>, Vec<f64>), Error> {
        let count = rows.len();
        let is_sparse = match opened {
            Opened::Rows(_) => false,
            Opened::Lines(lines) => lines.entries as f64 <= SPARSE * lines.shape.0 as f64 * lines.shape.1 as f64,
        };
        let (mut y, mut offsets) = (vec![0.0; targets * count], vec![0.0; count]);
        let mut cells = vec![0.0; if is_sparse { 0 } else { count * width }];
        let mut entries = Vec::new();
        opened.read_rows(rows, |i, j, value| match becomes[j] {
            Becomes::Cell(place) if is_sparse => entries.push((i as u32, place as u32, value)),
            Becomes::Cell(place) => cells[i * width + place] = value,
            Becomes::Target(place) => y[place * count + i] = value,
            Becomes::Offset => offsets[i] = value,
            Becomes::Nothing => (),
        })?;
        let x = match is_sparse {
            false => Cells::Full(cells),
            true => {
                let once = |_: usize, _: usize, values: &[f64]| Ok(values[0]);
                let made = Csr::from_entries(count, width, entries.into_iter(), once);
                Cells::Sparse(
                    made.map_err(|misfit: melmo::sparse::Misfit| Error::input(&self.input, misfit.to_string()))?,
                )
            }
        };
        Ok((x, y, offsets))
    }

    /// This rank's rows of the file with what is predicted, one target after another, and their names where they are several.
    fn share_of_target(
        &self,
        rows: usize,
        mine: Range<usize>,
        inputs: &mut Inputs,
        crew: &mut Crew,
    ) -> Result<(Vec<f64>, Vec<String>), Error> {
        let path = Path::new(&self.target);
        let opened = Opened::read(path, inputs, crew)?;
        crew.agree(inputs.remember_file(path))?;
        let (found, targets) = opened.shape();
        if found != rows || targets == 0 {
            let message = format!("{}: found a {found}×{targets} matrix; expected {rows}×1", path.display());
            return Err(Error::Ranks(message));
        }
        let (mut y, count) = (vec![0.0; targets * mine.len()], mine.len());
        let read = opened.read_rows(mine, |i, j, value| y[j * count + i] = value);
        crew.agree(read)?;
        let names = match (targets, opened.header()) {
            (1, _) => Vec::new(),
            (_, header) if header.is_empty() => (1..=targets).map(|at| format!("y{at}")).collect(),
            (_, header) => header,
        };
        Ok((y, names))
    }

    /// The rows that are known well enough, of which the first is this one of the file.
    fn known(&self, share: Share, first: usize, crew: &mut Crew) -> Result<Share, Error> {
        let (rows, width) = (share.rows, share.names.len());
        let known = |row: usize| {
            share.y.iter().skip(row).step_by(rows).all(|y| !y.is_nan())
                && share.offset.as_ref().is_none_or(|offset| !offset[row].is_nan())
                && match &share.x {
                    Cells::Full(x) => !x[row * width..(row + 1) * width].iter().any(|cell| cell.is_nan()),
                    Cells::Sparse(_) => true, // Matrix Market has no NaN
                }
        };
        let kept: Vec<usize> = (0..rows).filter(|&row| known(row)).collect();
        let [dropped, all] = crew.sums([(rows - kept.len()) as f64, kept.len() as f64])?;
        let gap = (0..rows).find(|&row| !known(row)).filter(|_| self.missing == Missing::Refuse);
        let refused = gap.map_or(Ok(()), |row| {
            let message = format!(
                "row {}: a cell is missing, and {dropped} of {} rows have one: choose --missing drop",
                first + row + 1,
                dropped + all
            );
            Err(Error::input(&self.input, message))
        });
        crew.agree(refused)?;
        if all == 0.0 {
            let message = "no row is left: every one lacks the target or a cell";
            return Err(Error::Ranks(format!("{}: {message}", self.input.display())));
        }
        crew.agree(self.check_targets(&share.y, &kept, rows, first))?;
        if dropped == 0.0 {
            return Ok(share);
        }
        let some = |values: &[f64]| kept.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let y = share.y.chunks_exact(rows.max(1)).flat_map(some).collect();
        let (x, offset) = (share.x.some(&kept, width)?, share.offset.as_deref().map(some));
        Ok(Share { x, y, offset, rows: kept.len(), all: all as usize, dropped: dropped as usize, ..share })
    }

    /// Refuses a number that the loss does not take, by its row: what is found later does not know it.
    fn check_targets(&self, y: &[f64], kept: &[usize], rows: usize, first: usize) -> Result<(), Error> {
        let takes = |y: f64| y.is_finite() && (self.loss != Loss::Poisson || y >= 0.0);
        let wrong = |of: &[f64]| kept.iter().copied().find(|&row| !takes(of[row])).map(|row| (row, of[row]));
        let Some((row, value)) = y.chunks_exact(rows.max(1)).find_map(wrong) else { return Ok(()) };
        let expected = if self.loss == Loss::Poisson { "counts, 0 or more, for a Poisson loss" } else { "a number" };
        Err(Error::input(Path::new(&self.target), format!("{value} in row {}; expected {expected}", first + row + 1)))
    }
}
