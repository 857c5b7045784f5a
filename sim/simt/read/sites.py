"""Debug locations of a module, resolved to places in the user's source."""

from __future__ import annotations

import re
from dataclasses import replace

from ...site import Site

GENERATED = "__assay"
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|(![0-9]+)|([-\w]+))')


class SiteTable:
    """Resolves `!dbg` references by a module's metadata."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self._metadata = metadata
        self._sites: dict[str, Site] = {"": Site()}

    def site(self, reference: str) -> Site:
        """The place that a `!N` reference names; an empty site if it names none."""
        known = self._sites.get(reference)
        if known is None:
            known = self._sites[reference] = self._resolve(reference)
        return known

    def _fields(self, reference: str) -> dict[str, str]:
        text = self._metadata.get(reference, "")
        return {m[1]: m[2] or m[3] or m[4] or "" for m in _FIELD.finditer(text)}

    def _resolve(self, reference: str) -> Site:
        fields = self._fields(reference)
        if "scope" not in fields:
            return Site()
        inlined: tuple[Site, ...] = ()
        if "inlinedAt" in fields:
            outer = self.site(fields["inlinedAt"])
            # The entry wrapper that the compiler adds is not in the user's source.
            own = () if outer.function.startswith(GENERATED) else (outer,)
            inlined = (*own, *outer.inlined)
        file, function = self._scope(fields["scope"])
        if inlined and function.startswith(GENERATED):  # a definition that the compiler adds
            return replace(inlined[0], inlined=inlined[1:])
        return Site(
            file, int(fields.get("line", 0)), int(fields.get("column", 0)), function, inlined
        )

    def _scope(self, reference: str) -> tuple[str, str]:
        file, function = "", ""
        while reference:
            fields = self._fields(reference)
            if not file and "file" in fields:
                file = self._fields(fields["file"]).get("filename", "")
            if self._metadata.get(reference, "").startswith("!DISubprogram"):
                function = fields.get("name", "")
                break
            reference = fields.get("scope", "")
        return file, function
