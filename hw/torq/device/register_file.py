"""The words of all registers but those of slices, and what happens when some are written."""

from collections.abc import Callable

from ..facts.registers import Image, registers
from . import status
from .bus import Place

Effect = Callable[[int, int], None]
"""What a write causes: (value, address of the command word behind it)."""


class RegisterFile:
    """The register spaces `nss`, `css`, `cpu` and `cdma`; zero at first but for the core's reset.

    Status bits are cleared by writing ones to them.
    """

    def __init__(self) -> None:
        self._spaces: dict[str, dict[int, int]] = {s: {} for s in ("nss", "css", "cpu", "cdma")}
        self._effects: dict[Place, Effect] = {}
        self._watchers: list[Callable[[], None]] = []
        self._status = place_of("NSS.STATUS.nss")
        self._copied = place_of("CDMA.CH0_STATUS.intr_done")
        self.pending = status.Pending(
            self._spaces["nss"], self._spaces["css"], self._spaces["cdma"]
        )
        self.reset()

    def reset(self) -> None:
        """All words as after power-on."""
        for words in self._spaces.values():
            words.clear()
        image = self.image("cpu")
        image["CPU.CTL.reset"] = image["CPU.CTL.cg"] = 1
        self.put("cpu", image)

    def on_write(self, field: str, effect: Effect) -> None:
        """From now on, writing the register with this field has an effect."""
        self._effects[place_of(field)] = effect

    def watch(self, look: Callable[[], None]) -> None:
        """From now on, `look` is called when something may have become pending."""
        self._watchers.append(look)

    def read(self, place: Place) -> int:
        """A word."""
        return self._spaces[place.space].get(place.address, 0)

    def write(self, place: Place, value: int, at: int) -> None:
        """Writes a word, with what follows from it. Raises TorqFault."""
        words = self._spaces[place.space]
        if place == self._status:
            words[place.address] = self.read(place) & ~value
        elif place == self._copied:
            words[place.address] = self.read(place) & ~(value | value >> 16)
        else:
            words[place.address] = value
            effect = self._effects.get(place)
            if effect is not None:
                effect(value, at)
            if place.space == "css":  # mailboxes, enables
                self._changed()

    def image(self, space: str) -> Image:
        """The fields of a space as they are now."""
        return Image(registers(space), self._spaces[space])

    def put(self, space: str, image: Image) -> None:
        """Takes over the fields of an image; what writing them would start does not start."""
        self._spaces[space].update(image.words)
        self._changed()

    def change(self, mask: int, on: bool) -> None:
        """Sets or clears bits of NSS.STATUS."""
        words, address = self._spaces["nss"], self._status.address
        words[address] = words.get(address, 0) | mask if on else words.get(address, 0) & ~mask
        self._changed()

    def _changed(self) -> None:
        for look in self._watchers:
            look()


def place_of(field: str) -> Place:
    """Where the register with a field is."""
    space = field.split(".")[0].lower()
    return Place(space=space, address=registers(space).address(field))
