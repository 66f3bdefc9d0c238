"""Whether every link of the site leads somewhere, and nothing is loaded from another host.

    python scripts/site_links.py target/site [--without rust] [--without try]

Pages of rustdoc are only led to: rustdoc checks its own links. With `--without` a folder that was not built is taken on trust.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser loads by itself, and so may not come from elsewhere.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[tuple[str, bool]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif value and (tag, name) in LOADED:
                self.links.append((value, True))
            elif value and tag == "a" and name == "href":
                self.links.append((value, False))


def wrong(site: Path, without: list[str]) -> list[str]:
    """What is wrong with the site, a line each."""
    pages = {path: Page(path) for path in site.rglob("*.html") if path.relative_to(site).parts[0] != "rust"}
    found = []
    for path, page in pages.items():
        for link, loaded in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                if loaded:
                    found.append(f"{path.relative_to(site)}: loads {link} from elsewhere")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if any(target.is_relative_to(site / folder) for folder in without):
                continue
            if path.name == "404.html" and parts.path.startswith("/"):
                target = site / parts.path.lstrip("/") if parts.path != "/" else site / "index.html"
            if not target.exists():
                found.append(f"{path.relative_to(site)}: {link} leads nowhere")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{path.relative_to(site)}: {link}: there is no such place on that page")
    return found


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    without = [folder for option, folder in zip(sys.argv, sys.argv[1:]) if option == "--without"]
    found = wrong(site, without)
    print("\n".join(found))
    if found:
        sys.exit(f"site: {len(found)} links are broken")
    print(f"site: {len(list(site.rglob('*.html')))} pages, every link leads somewhere; {site}/index.html")


if __name__ == "__main__":
    main()
