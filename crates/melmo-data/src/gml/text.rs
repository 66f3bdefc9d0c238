//! Texts of GML, which are printable ASCII: every other character, `&` and `"` stand as references such as `&#233;`.

/// The longest reference, `&#x10ffff;`, and three leading zeros.
const LONGEST: usize = 13;

/// What a text in a file says. An `&` that begins no known reference stands for itself.
pub(super) fn unescape(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, length) = reference(rest).unwrap_or(('&', 1));
        text.push(character);
        rest = &rest[length..];
    }
    text.push_str(rest);
    text
}

/// The character of the reference a text begins with, and the bytes that reference takes.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let character = match &text[1..end] {
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "lt" => '<',
        "gt" => '>',
        other => {
            let digits = other.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    };
    Some((character, end + 1))
}

/// The text as it stands in a file, between quotation marks.
pub(super) fn escape(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => written.push_str("&amp;"),
            '"' => written.push_str("&quot;"),
            ' '..='~' => written.push(character),
            other => written.push_str(&format!("&#{};", u32::from(other))),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_reads_back() {
        for text in ["", "plain", "A & B", "&amp;", "&#65;", "\"é\"\n\u{10ffff}\0", "&&;;", "<>'"] {
            assert!(escape(text).bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'"'));
            assert_eq!(unescape(&escape(text)), text);
        }
    }

    #[test]
    fn references_by_name_and_number() {
        assert_eq!(unescape("&lt;&gt;&quot;&apos;&amp;lt;"), "<>\"'&lt;");
        assert_eq!(unescape("&#233;&#xe9;&#XE9;&#x10ffff;"), "ééé\u{10ffff}");
        for kept in ["A&M", "&", "&;", "&#;", "&#xd800;", "&#99999999999;", "&nbsp;", "&é;", "&ééééééééé;"] {
            assert_eq!(unescape(kept), kept);
        }
    }
}
