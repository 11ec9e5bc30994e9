"""`boostlab card`: a model card, in Markdown, read off the model file."""

from __future__ import annotations

from pathlib import Path

from boostlab.deployment.fit import shown_metrics
from boostlab.tables.model import load_model
from boostlab.tables.recipe import ColumnRecipe, few


def card(path: Path) -> str:
    """Return the model card of a model file.

    Parameters
    ----------
    path : path
        A file that `boostlab fit` or `boostlab compare` wrote.
    """
    model, facts = load_model(path)
    recipe, booster = model["recipe"].recipe, model["booster"]
    kind = f"one of {len(recipe.classes)} classes: {few(recipe.classes, 10)}" if recipe.classes else "a number"
    tested = shown_metrics(facts.get("metrics", {}))
    worth = [f"- {name}: {value}" for name, value in tested.items()] or [
        "- Not tested; `boostlab compare` tests models."
    ]
    training = ", ".join(f"{name} {value:.4g}" for name, value in facts.get("training", {}).items())
    importances = [f"{i}. {name} ({100 * share:.1f} %)" for i, (name, share) in enumerate(facts["importances"][:10], 1)]
    parts = [
        f"# Model card: {recipe.target}",
        f"Predicts `{recipe.target}`, {kind}.",
        "## The model",
        f"```python\n{facts.get('model', repr(booster))}\n```",
        f"- {facts.get('rounds')} rounds; training ended by {facts.get('stop')}.",
        f"- Made {facts.get('made')} by boostlab {facts.get('boostlab')} in {facts.get('seconds')} s.",
        *([f"- {facts['choice']}"] if facts.get("choice") else []),
        "## The training table",
        "\n".join(f"- {name}: {text}" for name, text in facts.get("facts", {}).items()),
        "## What it takes",
        "\n".join(_column(one) for one in recipe.columns),
        "Left out: " + "; ".join(f"{name} ({why})" for name, why in recipe.left_out.items()) if recipe.left_out else "",
        "## What it is worth",
        "\n".join(worth),
        f"On its own training rows, which says little: {training}." if training else "",
        "## What it looks at",
        "\n".join(importances) or "Nothing: the vote is constant.",
        "## Beware",
        "\n".join(f"- {text}" for text in (*facts.get("warnings", ()), *_cautions())),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cautions() -> tuple[str, ...]:
    return (
        "It knows the rows it was trained on: where new rows differ from them, its answers may not hold.",
        "Categories and words that it has not seen count as missing.",
        "Whether it treats groups of people alike was not looked at.",
    )


def _column(one: ColumnRecipe) -> str:
    if one.kind == "category":
        return f"- {one.name}: {len(one.values)} categories ({few(one.values)})"
    if one.kind == "date":
        return f"- {one.name}: {one.form.says()}, as {', '.join(one.values)}"
    if one.kind == "text":
        return f"- {one.name}: text, by its length and {len(one.values)} words"
    if one.kind == "boolean":
        return f"- {one.name}: yes or no"
    return f"- {one.name}: a number{f' {one.form.says()}' if one.form.says() else ''}"
