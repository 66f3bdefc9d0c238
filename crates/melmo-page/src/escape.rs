//! Text made safe for the place it is written to.

/// For HTML and SVG, inside elements and inside quoted attributes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML 1.0 has no way to write these, and a stand-alone SVG that carries one does not open.
            c if c.is_control() && !matches!(c, '\t' | '\n' | '\r') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// JSON for a `<script>` element: nothing in it can end the element or open a comment.
pub(crate) fn script(json: &serde_json::Value) -> String {
    json.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A CSV field, quoted when it has to be.
pub(crate) fn csv(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// A cell of a Markdown table.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '|' | '<' | '[' | ']' => out.extend(['\\', c]),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// LaTeX text: its special characters, and the mathematical symbols a text engine has no glyph for.
pub(crate) fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '<' | '>' | '|' => out.push_str(&format!("${c}$")),
            c => match SYMBOLS.iter().find(|(symbol, _)| *symbol == c) {
                Some((_, command)) => out.push_str(&format!("\\ensuremath{{{command}}}")),
                None => out.push(c),
            },
        }
    }
    out
}

/// Unicode mathematics and the LaTeX for it.
#[rustfmt::skip]
const SYMBOLS: &[(char, &str)] = &[
    ('α', r"\alpha"), ('β', r"\beta"), ('γ', r"\gamma"), ('δ', r"\delta"), ('ε', r"\varepsilon"), ('ζ', r"\zeta"),
    ('η', r"\eta"), ('θ', r"\theta"), ('κ', r"\kappa"), ('λ', r"\lambda"), ('μ', r"\mu"), ('ν', r"\nu"), ('ξ', r"\xi"),
    ('π', r"\pi"), ('ρ', r"\rho"), ('σ', r"\sigma"), ('τ', r"\tau"), ('φ', r"\varphi"), ('χ', r"\chi"), ('ψ', r"\psi"),
    ('ω', r"\omega"), ('Γ', r"\Gamma"), ('Δ', r"\Delta"), ('Λ', r"\Lambda"), ('Σ', r"\Sigma"), ('Φ', r"\Phi"),
    ('Ω', r"\Omega"), ('ℓ', r"\ell"), ('∇', r"\nabla"), ('∂', r"\partial"), ('‖', r"\|"), ('∥', r"\|"), ('∞', r"\infty"),
    ('≤', r"\le"), ('≥', r"\ge"), ('≠', r"\ne"), ('≈', r"\approx"), ('∼', r"\sim"), ('≪', r"\ll"), ('≫', r"\gg"),
    ('×', r"\times"), ('·', r"\cdot"), ('±', r"\pm"), ('−', "-"), ('⊙', r"\odot"), ('∘', r"\circ"), ('⋆', r"\star"),
    ('∈', r"\in"), ('∑', r"\sum"), ('√', r"\surd"), ('→', r"\to"), ('↑', r"\uparrow"), ('↓', r"\downarrow"),
    ('⟨', r"\langle"), ('⟩', r"\rangle"), ('½', r"\tfrac12"), ('²', "^2"), ('³', "^3"), ('ℝ', r"\mathbb{R}"),
    ('₀', "_0"), ('₁', "_1"), ('₂', "_2"), ('₃', "_3"), ('⁻', "^-"), ('¹', "^1"), ('⁴', "^4"), ('⁵', "^5"), ('⁶', "^6"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_has_no_way_out_of_text_or_attribute() {
        assert_eq!(html(r#"<b title='x' id="y">&"#), "&lt;b title=&#39;x&#39; id=&quot;y&quot;&gt;&amp;");
        assert_eq!(html("a\u{0}b\nc"), "a\u{fffd}b\nc");
    }

    #[test]
    fn script_cannot_be_closed_and_reads_back() {
        let value = serde_json::json!({ "name": "</script><!--\u{2028}" });
        let text = script(&value);
        assert!(!text.contains('<') && !text.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn fields_are_quoted_when_needed() {
        assert_eq!(csv("plain"), "plain");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(markdown("a|b_c"), "a\\|b\\_c");
        assert_eq!(latex("50 % of β_0 & {x}"), "50 \\% of \\ensuremath{\\beta}\\_0 \\& \\{x\\}");
    }
}
