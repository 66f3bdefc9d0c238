"""One page of the playground's parts: python scripts/playground_page.py MODULE PAGE

MODULE.js and MODULE_bg.wasm come from scripts/bindgen; the rest lies in crates/melmo-web/page.
"""

from __future__ import annotations

import base64
import gzip
import sys
from pathlib import Path

from zopfli.gzip import compress  # a twentieth smaller than zlib makes it

PARTS = Path(__file__).parent.parent / "crates/melmo-web/page"
PHOTOGRAPH = Path(__file__).parent.parent / "crates/melmo-data/data/camera.png"
LIMIT = 2_000_000  # bytes of the whole page, packed as a server packs it


def read(*names: str) -> str:
    return "\n".join((PARTS / name).read_text() for name in names)


def main() -> None:
    module, page = sys.argv[1:]
    glue = Path(f"{module}.js").read_text()
    packed = compress(Path(f"{module}_bg.wasm").read_bytes(), numiterations=1)
    text = read("index.html")
    for name, part in {
        "@STYLE@": read("style.css"),
        "@WORKER@": glue + "\n" + read("worker.js"),
        "@MODULE@": base64.b64encode(packed).decode(),
        "@PHOTOGRAPH@": base64.b64encode(PHOTOGRAPH.read_bytes()).decode(),
        "@PAGE@": read("draw.js", "page.js"),
    }.items():
        assert name in text and "</script" not in part, name
        text = text.replace(name, part)
    Path(page).write_text(text)
    size = len(gzip.compress(text.encode(), mtime=0))
    print(f"playground: {page}, {size / 1e6:.2f} MB packed")
    if size > LIMIT:
        sys.exit(f"playground: more than the {LIMIT / 1e6:.0f} MB that are promised")


if __name__ == "__main__":
    main()
