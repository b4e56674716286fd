"""``batkube report``: a folder of results as a page, as Markdown or as a figure."""

import sys
import webbrowser
from pathlib import Path
from typing import Literal, get_args

from batkube.commands.results_folder import complain, read_results
from batkube.named_file import write_named
from batkube.report.run_data import RunData
from batkube.settings import BAD_INPUT, FAILED, FINISHED

Form = Literal["html", "md", "png", "svg"]
FORMS: tuple[Form, ...] = get_args(Form)
STDOUT = Path("-")


def main(folder: Path, out: Path | None, form: Form | None, *, opened: bool) -> int:
    """Write the report; the exit code. ``out``: by default ``report.FORM`` in the folder."""
    wanted = form or _form_of(out)
    if wanted is None:
        return complain(f"{out}: cannot tell the format from the name: give it a suffix of {', '.join(FORMS)}")
    if out == STDOUT and wanted == "png":
        return complain("png does not go to standard output: name a file")
    data = read_results(folder)
    if data is None:
        return BAD_INPUT
    path = (folder if folder.is_dir() else folder.parent) / f"report.{wanted}" if out is None else out
    try:
        if (failed := _write(data, path, wanted)) is not None:
            return failed
    except OSError as error:
        return complain(f"{path}: {error.strerror}")
    if path != STDOUT:
        print(path)
        if opened:
            webbrowser.open(path.resolve().as_uri())
    return FINISHED


def _form_of(out: Path | None) -> Form | None:
    if out is None or out == STDOUT:
        return "html"
    return next((form for form in FORMS if out.suffix == f".{form}"), None)


def _write(data: RunData, path: Path, form: Form) -> int | None:
    if form in ("png", "svg"):
        from batkube.report.figure import NoPlots, write_figure

        try:
            write_figure(data, path, form)
        except NoPlots as error:
            complain(str(error))
            return FAILED
        return None
    if form == "md":
        from batkube.report.markdown import markdown

        text = markdown(data)
    else:
        from batkube.report.document import document

        text = document(data)
    if path == STDOUT:
        sys.stdout.write(text)
    else:
        write_named(path, text)
    return None
