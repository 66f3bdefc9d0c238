//! A long text in pieces, read by all threads.

use melmo_base::threads;

use crate::error::Error;

/// Bytes of a piece: cut by the length of the text alone.
const PIECE: usize = 1 << 22;

/// What `each` makes of the pieces, which end where lines do, in their order. It is told whether a piece is the first. The lines of
/// its errors count from the piece's first; those of the error that comes back, the first there is, from the text's.
pub(crate) fn read<T: Send>(text: &str, each: impl Fn(bool, &str) -> Result<T, Error> + Sync) -> Result<Vec<T>, Error> {
    let pieces = cut(text);
    let read = threads::map(pieces.iter().enumerate(), |(at, piece)| each(at == 0, piece));
    let place = |at: usize| pieces[..at].iter().map(|piece| newlines(piece)).sum();
    read.into_iter().enumerate().map(|(at, read)| read.map_err(|error| error.after(place(at)))).collect()
}

fn newlines(piece: &str) -> usize {
    piece.bytes().filter(|&byte| byte == b'\n').count()
}

fn cut(text: &str) -> Vec<&str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let end = rest.as_bytes().iter().skip(PIECE).position(|&byte| byte == b'\n');
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |end| PIECE + end + 1));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    #[test]
    fn pieces_are_in_order_and_lines_are_counted_from_the_first() {
        let text = "0123456789abcde\n".repeat(3 * PIECE / 16);
        assert_eq!(read(&text, |_, piece| Ok(piece.len())).unwrap().iter().sum::<usize>(), text.len());
        let firsts = read(&text, |first, _| Ok(first)).unwrap();
        assert!(firsts.len() > 2 && firsts.iter().filter(|first| **first).count() == 1 && firsts[0]);
        let bad = text.clone() + "bad\n" + &text;
        let found = read(&bad, |_, piece| match piece.lines().position(|line| line == "bad") {
            Some(at) => Err(Error::malformed(Place::Line(at + 1), "bad", "good", "")),
            None => Ok(()),
        });
        assert!(found.unwrap_err().to_string().contains(&format!("line {}:", 3 * PIECE / 16 + 1)));
    }
}
