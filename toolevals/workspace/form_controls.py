"""Tell how form controls look."""

from __future__ import annotations

from typing import Any

from django import forms


class PlainForm(forms.Form):
    """A form whose controls carry the classes of the design; `workspace/parts/form.html` draws it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field.widget, forms.CheckboxInput | forms.RadioSelect):
                look = "form-check-input"
            else:
                look = "form-select" if isinstance(field.widget, forms.Select) else "form-control"
            field.widget.attrs.setdefault("class", look)

    def full_clean(self) -> None:
        super().full_clean()
        for name in self.errors:
            if name in self.fields:
                self.fields[name].widget.attrs["class"] += " is-invalid"
