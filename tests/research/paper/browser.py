"""A page in headless Chromium: what a script finds out about it, and what the console says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# The pages are looked at from outside, in frames, so that they are tested as they were written.
_HARNESS = """<!doctype html><meta charset="utf-8"><body>
{frames}
<pre id="answer"></pre>
<script>
window.addEventListener("load", () => {{
  const pages = Array.from(document.querySelectorAll("iframe"), (f) => f.contentWindow);
  let answer;
  try {{ answer = ({script})(...pages); }}
  catch (error) {{ answer = {{ error: String(error) }}; }}
  document.getElementById("answer").textContent = JSON.stringify(answer);
}});
</script>
"""


def ask(
    folder: Path,
    page: str,
    script: str,
    widths: tuple[int, ...],
    *options: str,
    fragment: str = "",
) -> tuple[Any, list[str]]:
    """Call a function of JavaScript with the windows of the page, one a width.

    The fragment, "#..." or nothing, ends the address of the page. Returns the answer of the
    function and the lines that the pages wrote to the console.
    """
    (folder / "page.html").write_text(page, encoding="utf-8", newline="\n")
    address = escape(f"page.html{fragment}")
    frames = "".join(
        f'<iframe src="{address}" style="width:{width}px;height:900px;border:0"></iframe>'
        for width in widths
    )
    harness = folder / "harness.html"
    harness.write_text(_HARNESS.format(frames=frames, script=script), encoding="utf-8")
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--allow-file-access-from-files", "--enable-logging=stderr", "--no-first-run"]
    command += ["--virtual-time-budget=20000", f"--user-data-dir={folder / 'profile'}", *options]
    run = subprocess.run(
        [*command, harness.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    answer = re.search(r'<pre id="answer">(.*?)</pre>', run.stdout, flags=re.DOTALL)
    assert answer and answer[1], run.stderr
    return json.loads(unescape(answer[1])), re.findall(r".*CONSOLE.*", run.stderr)
