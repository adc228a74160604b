"""The key-value cache of the rows that are being generated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

# Keys and values of each layer, both of shape (rows, heads, tokens, head size).
Layers = list[tuple[torch.Tensor, torch.Tensor]]

# Columns allocated ahead. Every so many tokens the rows are moved; a `DynamicCache` moves them for each token.
_AHEAD = 128


def layers_of(cache: DynamicCache) -> Layers:
    """The keys and values in a cache of transformers, as views."""
    return [(layer[0], layer[1]) for layer in cache]


def cache_of(layers: Layers, rows: int) -> DynamicCache:
    """A cache of transformers in which each of `rows` rows begins with the one row of `layers`."""
    cache = DynamicCache()
    for index, (keys, values) in enumerate(layers):
        cache.update(keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1), index)
    return cache


class RowCache(DynamicCache):  # type: ignore[misc]  # transformers is not read by the type checker
    """Rows of different lengths that end at the same column, and that come and go one by one.

    Row `i` fills the last `lengths[i]` columns; what is left of it is to be masked. A forward pass writes one token
    of each row into the next column; `advance` then makes it part of the rows.

    Args:
        capacity: How many rows there are at most.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity = capacity
        self._keys: list[torch.Tensor] = []
        self._values: list[torch.Tensor] = []
        self._start = self._end = 0
        self.lengths: list[int] = []

    @property
    def width(self) -> int:
        """Columns in use: the length of the longest row, or a little more."""
        return self._end - self._start

    def add(self, pieces: Sequence[Layers]) -> None:
        """Append a row made of these pieces, one after the other. Each piece holds one row."""
        length = sum(piece[0][0].shape[2] for piece in pieces)
        if not self._keys:
            self._allocate(pieces[0], length)
        if length > self._end:
            self._move(length + _AHEAD, end=length)
        row = len(self.lengths)
        column = self._end - length
        for piece in pieces:
            after = column + piece[0][0].shape[2]
            for own, (keys, values) in enumerate(piece):
                self._keys[own][row, :, column:after] = keys[0]
                self._values[own][row, :, column:after] = values[0]
            column = after
        self.lengths.append(length)
        self._start = min(self._start, self._end - length) if row else self._end - length

    def remove(self, row: int) -> None:
        """Take a row out. The last row takes its place."""
        last = len(self.lengths) - 1
        if row != last:
            for tensor in (*self._keys, *self._values):
                tensor[row, :, self._start : self._end] = tensor[last, :, self._start : self._end]
        self.lengths[row] = self.lengths[last]
        self.lengths.pop()
        if self.lengths:
            self._start = self._end - max(self.lengths)

    def mask(self, device: torch.device) -> torch.Tensor | None:
        """Which columns each row reads in the next pass, its new token included: (rows, width + 1) of 0 and 1.

        None where all rows read all columns, which lets attention take its faster way.
        """
        if min(self.lengths) == self.width:
            return None
        first = torch.tensor([self.width - length for length in self.lengths], device=device)
        return (torch.arange(self.width + 1, device=device) >= first[:, None]).long()

    def advance(self) -> None:
        """Make the column that the last pass wrote part of the rows."""
        self._end += 1
        self.lengths = [length + 1 for length in self.lengths]

    # What models ask of a cache.

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if self._end == self._keys[layer_idx].shape[2]:
            self._move(self.width + _AHEAD, end=self.width)
        rows = len(self.lengths)
        keys, values = self._keys[layer_idx][:rows], self._values[layer_idx][:rows]
        keys[:, :, self._end : self._end + 1] = key_states
        values[:, :, self._end : self._end + 1] = value_states
        window = slice(self._start, self._end + 1)
        return keys[:, :, window], values[:, :, window]

    def get_seq_length(self, layer_idx: int | None = 0) -> int:
        return self.width

    def get_mask_sizes(self, query: int | torch.Tensor, layer_idx: int = 0) -> tuple[int, int]:
        # transformers 5 gives the number of queries, 4 gives their positions.
        queries = query if isinstance(query, int) else query.shape[0]
        return self.width + queries, 0

    def __len__(self) -> int:
        return len(self._keys)

    # Memory. Zeros, since what is masked is still multiplied by nought: it must not be a chance infinity.

    def _allocate(self, like: Layers, end: int) -> None:
        for keys, values in like:
            for tensors, tensor in ((self._keys, keys), (self._values, values)):
                _, heads, _, size = tensor.shape
                tensors.append(tensor.new_zeros(self._capacity, heads, end + _AHEAD, size))
        self._start = self._end = end

    def _move(self, columns: int, end: int) -> None:
        """Put the rows into tensors of `columns` columns so that they end at column `end`. Layer by layer."""
        rows, width = len(self.lengths), self.width
        for tensors in (self._keys, self._values):
            for index, old in enumerate(tensors):
                new = old.new_zeros(old.shape[0], old.shape[1], columns, old.shape[3])
                new[:rows, :, end - width : end] = old[:rows, :, self._start : self._end]
                tensors[index] = new
        self._start, self._end = end - width, end
