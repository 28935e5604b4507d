"""Check the built site: links, hosts, and each page in a browser.

``python docs/check.py build/docs`` prints what is wrong and exits with 1, or says what it saw.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WIDTHS = (360, 1280)
THEMES = ("light", "dark")
# Pages in one browser at a time.
BATCH = 12
# What the theme tells about itself.
CHATTER = re.compile(r'"(\[PST\]:|Got invalid theme mode: \. Resetting to auto)')

# Pages are looked at from outside, in frames, so that they are tested as they were written. What
# scrolls inside itself (a wide table, a long line of code) may be wide. The theme lets the article
# scroll as a whole, so that the width of the page itself tells nothing.
HARNESS = """<!doctype html><meta charset="utf-8"><body>
{frames}
<pre id="answer"></pre>
<script>
function scrolls(element, text, width) {{
  for (let e = element.parentElement; e && e !== text; e = e.parentElement) {{
    if (/auto|scroll/.test(e.ownerDocument.defaultView.getComputedStyle(e).overflowX)
        && e.getBoundingClientRect().right <= width) return true;
  }}
  return false;
}}
window.addEventListener("load", () => setTimeout(() => {{
  const answer = Array.from(document.querySelectorAll("iframe"), (frame) => {{
    const inside = frame.contentDocument, page = inside.documentElement;
    const text = inside.querySelector(".bd-article") || inside.body;
    const wide = Array.from(text.querySelectorAll("*")).filter((e) => {{
      const box = e.getBoundingClientRect();
      const width = page.clientWidth + 1;
      return box.width && box.right > width && !scrolls(e, text, width);
    }});
    return {{
      page: frame.dataset.page, width: frame.dataset.width, theme: page.dataset.theme || "",
      wide: wide.slice(0, 3).map((e) => e.tagName + " " + e.textContent.trim().slice(0, 40)),
      // The page itself, its header and its footer included.
      page_wide: Math.max(page.scrollWidth, inside.body.scrollWidth) - page.clientWidth,
      cut: Array.from(inside.querySelectorAll("iframe"))
        .map((f) => f.contentDocument.documentElement.scrollHeight - f.clientHeight)
        .filter((hidden) => hidden > 0),
      broken: Array.from(inside.images)
        .filter((image) => image.complete && !image.naturalWidth).map((image) => image.src),
    }};
  }});
  document.getElementById("answer").textContent = JSON.stringify(answer);
}}, 300));
</script>
"""


class _Page(HTMLParser):
    """Anchors of a page, and what it points to and loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given.get("href", ""))
        elif tag in ("script", "img", "iframe", "source") and "src" in given:
            self.loaded.append(given["src"])


def _pages(site: Path) -> list[Path]:
    # The theme keeps templates among its static files.
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def wrong_links(site: Path) -> Iterator[str]:
    """Yield each link to a page, a file or an anchor that does not exist, and each other host."""
    pages = {path: _Page(path) for path in _pages(site)}
    for path, page in pages.items():
        where = path.relative_to(site)
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{where} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{where} points to {link}, which does not exist"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where} points to {link}, and there is no such anchor"


def wrong_pages(site: Path) -> Iterator[str]:
    """Yield what a browser finds wrong with the pages, light and dark, narrow and wide."""
    pages = [path.relative_to(site).as_posix() for path in _pages(site)]
    for theme in THEMES:
        for start in range(0, len(pages), BATCH):
            yield from _seen(site, pages[start : start + BATCH], theme)


def _seen(site: Path, pages: list[str], theme: str) -> Iterator[str]:
    frames = "".join(
        f'<iframe data-page="{page}" data-width="{width}" src="{(site / page).as_uri()}" '
        f'style="width:{width}px;height:900px;border:0"></iframe>\n'
        for page in pages
        for width in WIDTHS
    )
    with tempfile.TemporaryDirectory() as folder:
        harness = Path(folder, "harness.html")
        harness.write_text(HARNESS.format(frames=frames), encoding="utf-8")
        answer, console = _browse(harness, Path(folder, "profile"), theme)
    yield from (f"{theme}: {line}" for line in console if not CHATTER.search(line))
    for found in answer:
        where = f"{found['page']} at {found['width']} px, {theme}"
        if found["wide"]:
            yield f"{where}: too wide: {', '.join(found['wide'])}"
        if found["page_wide"] > 0:
            yield f"{where}: the page is {found['page_wide']} px wider than the window"
        if found["cut"]:
            yield f"{where}: frames that hide {found['cut']} px of their page"
        if found["broken"]:
            yield f"{where}: images that do not load: {found['broken']}"
        if found["theme"] not in ("", theme):
            yield f"{where}: the theme is {found['theme']}"


def _browse(harness: Path, profile: Path, theme: str) -> tuple[list[dict], list[str]]:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--allow-file-access-from-files", "--enable-logging=stderr", "--no-first-run"]
    # It is to talk to nobody.
    command += ["--disable-quic", "--disable-background-networking", "--disable-component-update"]
    command += ["--disable-sync"]
    command += ["--virtual-time-budget=60000", f"--user-data-dir={profile}"]
    # 0 is dark, 1 is light.
    command += [f"--blink-settings=preferredColorScheme={int(theme == 'light')}", harness.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    answer = re.search(r'<pre id="answer">(.*?)</pre>', run.stdout, flags=re.DOTALL)
    assert answer and answer[1], run.stderr
    return json.loads(unescape(answer[1])), re.findall(r".*CONSOLE.*", run.stderr)


def main(folder: str) -> int:
    """Print what is wrong; return 1 if anything is."""
    site = Path(folder).resolve()
    pages = len(_pages(site))
    wrong = list(wrong_links(site))
    if CHROMIUM is None:
        print("No Chromium found: the pages were not looked at in a browser.")
    else:
        wrong += wrong_pages(site)
    for line in wrong:
        print(line)
    print(f"{pages} pages checked, {len(wrong)} things wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
