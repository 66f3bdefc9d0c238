//! A page with every kind of item, with made-up content: `cargo run -p melmo-page --example demo > demo.html`.
//!
//! With a folder's name it also writes each chart as SVG and PNG, and each table as Markdown, CSV and LaTeX, into it.

#[path = "demo/content.rs"]
mod content;

fn main() -> std::io::Result<()> {
    let page = content::page();
    if let Some(folder) = std::env::args_os().nth(1).map(std::path::PathBuf::from) {
        std::fs::create_dir_all(&folder)?;
        for (name, chart) in page.charts() {
            std::fs::write(folder.join(format!("{name}.svg")), chart.svg())?;
            std::fs::write(folder.join(format!("{name}.png")), chart.png(2.0))?;
        }
        for (name, table) in page.tables() {
            std::fs::write(folder.join(format!("{name}.md")), table.markdown())?;
            std::fs::write(folder.join(format!("{name}.csv")), table.csv())?;
            std::fs::write(folder.join(format!("{name}.tex")), table.latex())?;
        }
    }
    print!("{}", page.html());
    Ok(())
}
