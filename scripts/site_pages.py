"""A hook of MkDocs (mkdocs.yml names it): what is special about this site.

Pages that are made from other files: the gallery from the notebooks, and two files that lie beside docs/. And emphasis that leaves
formulas alone.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import SimpleTagInlineProcessor
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "python" / "examples"
BESIDE = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


class Emphasis(Extension):
    """`*word*` and `**word**` where words begin and end; `T*w`, `x*` and `L_f` are formulas."""

    def extendMarkdown(self, md: Markdown) -> None:
        for name in ("em_strong", "em_strong2"):
            md.inlinePatterns.deregister(name, strict=False)
        strong = r"(?<![\w*])(\*\*)(?=[^\s*])(.+?)(?<=[^\s*])\1(?!\*)"
        slanted = r"(?<![^\s(*–>])(\*)(?=[^\s*])(.+?)(?<=[^\s])\1(?![\w*])"
        md.inlinePatterns.register(SimpleTagInlineProcessor(strong, "strong"), "strong", 60)
        md.inlinePatterns.register(SimpleTagInlineProcessor(slanted, "em"), "em", 59)


def on_config(config: Any) -> Any:
    """Has Markdown read emphasis like that, on pages and in docstrings."""
    config.markdown_extensions.append(Emphasis())
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages to those of docs/."""
    cards = []
    for notebook in sorted(EXAMPLES.glob("*.ipynb")):
        text, pictures = page(notebook)
        files.append(File.generated(config, f"gallery/{notebook.stem}.md", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"gallery/{name}", content=picture))
        cards.append(card(notebook.stem, text, list(pictures)))
    gallery = "# Gallery\n\nEach page is a notebook that was run to its end. Scripts and notebooks are in `python/examples`.\n\n"
    files.append(File.generated(config, "gallery/index.md", content=gallery + "\n".join(cards)))
    for name, source in BESIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=re.sub(r"\]\(docs/", "](", text)))
    return files


def page(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and its pictures by name."""
    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            if "text" in output:
                lines += ["```text", "".join(output["text"]).rstrip(), "```", ""]
            if "image/png" in output.get("data", {}):
                name = f"{notebook.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode("".join(output["data"]["image/png"]))
                lines += [f"![what the cell above draws]({name})", ""]
    return "\n".join(lines), pictures


def card(stem: str, text: str, pictures: list[str]) -> str:
    """A notebook in the gallery's list: its title, its first sentences, its first picture."""
    title, about = re.match(r"# (.*?)\n\n(.*?)\n\n", text, re.S).groups()  # type: ignore[union-attr]
    picture = f"[![{title}]({pictures[0]})]({stem}.md)\n" if pictures else ""
    return f"## [{title}]({stem}.md)\n\n{about}\n\n{picture}"
