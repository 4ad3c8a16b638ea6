"""Files that are shown in parts: a notice stands in place of what was left out, within the text itself."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
from unacked.services import (
    Call,
    Field,
    RefusedError,
    Result,
    Route,
    SeedError,
    Service,
    Setting,
    check_seed,
    seed_rows,
)

TEXT = Field()
OPTIONAL = Field(required=False)
NOTICE = "[{shown} of {all} lines shown; read on from line {next}]"


class Files(Service):
    """A file is its lines; whoever writes it replaces all of them."""

    name = "files"

    def read(self, call: Call) -> Result:
        """Show some lines; where more follow, the text ends in a notice, and ``complete`` is false."""
        path, first = call.fields["path"], _line(call.fields.get("from_line"))
        lines = self._lines(path)
        shown = lines[first - 1 : first - 1 + self.state["shown_lines"]]
        after = first + len(shown)
        told = {"path": path, "returned": len(shown), "complete": after > len(lines)}
        if told["complete"]:
            return Result(200, {**told, "text": "\n".join(shown), "next_line": 0})
        notice = NOTICE.format(shown=len(shown), all=len(lines), next=after)
        return Result(200, {**told, "text": "\n".join([*shown, notice]), "next_line": after})

    def write(self, call: Call) -> Result:
        """Replace all lines of a file, or make it."""
        path, lines = call.fields["path"], call.fields["content"].splitlines()
        self.state["files"][path] = {"path": path, "lines": lines}
        self.state["writes"] += 1
        return Result(200, {"path": path, "lines": len(lines)}, committed=True)

    def archive(self, call: Call) -> Result:
        """Take files away; a dry run is carried out by saying what it would take."""
        paths, dry_run = call.fields["paths"], call.fields.get("dry_run") or False
        for path in paths:
            self._lines(path)
        if not dry_run:
            for path in dict.fromkeys(paths):
                del self.state["files"][path]
            self.state["archived"] += len(set(paths))
        return Result(200, {"archived": 0 if dry_run else len(set(paths)), "dry_run": dry_run}, committed=True)

    def _lines(self, path: str) -> list[str]:
        file: dict[str, list[str]] | None = self.state["files"].get(path)
        if file is None:
            raise RefusedError(404, "no_such_file")
        return file["lines"]

    def summary(self) -> dict[str, JSON]:
        """Count files and lines; ``notices`` are lines that no file had before the service itself wrote them."""
        lines = [line for file in self.state["files"].values() for line in file["lines"]]
        return {
            "files": len(self.state["files"]),
            "file_lines": len(lines),
            "notices": sum(line.startswith("[") and line.endswith("]") and " lines shown; " in line for line in lines),
            "writes": self.state["writes"],
            "archived_files": self.state["archived"],
        }

    routes = (
        Route("read_file", "GET", "/v1/files", read, fields={"path": TEXT, "from_line": OPTIONAL}),
        Route("write_file", "PUT", "/v1/files", write, fields={"path": TEXT, "content": TEXT, "request_id": OPTIONAL}),
        Route(
            "archive_files",
            "POST",
            "/v1/files/archive",
            archive,
            fields={
                "paths": Field((list,)),
                "dry_run": Field((bool,), required=False),
                "request_id": OPTIONAL,
            },
            keyed=True,
        ),
    )


def _line(written: JSON) -> int:
    if written is None:
        return 1
    if not str(written).isdecimal():
        raise RefusedError(422, "invalid_request", field="from_line")
    return max(1, int(written))


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's files; raises SeedError where the seed does not fit."""
    check_seed(seed, ["files", "shown_lines"])
    shown = seed.get("shown_lines", 2000)
    if type(shown) is not int or shown < 1:
        raise SeedError(("shown_lines",), f"expected a number of lines, got {shown!r}")
    rows = seed_rows(seed, "files", "path", {"path": TEXT, "text": TEXT})
    files = {path: {"path": path, "lines": row["text"].splitlines()} for path, row in rows.items()}
    return Files(setting, {"files": files, "shown_lines": shown, "writes": 0, "archived": 0})
