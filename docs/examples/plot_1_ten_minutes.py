"""
Ten minutes: from a CSV to a deployed model
===========================================

A shop has a table of customers, and wants to know who will leave.  This page reads the table, finds a booster,
calibrates its probabilities, explains one customer, and writes the model as files that run without boostlab.
"""

# %%
# A table
# -------
# Yours comes from a file.  Here one is drawn, so that the page runs anywhere: prices with gaps, a plan in words, and a
# rule with noise that says who leaves.
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
n = 600
table = pd.DataFrame(
    {
        "months": rng.integers(1, 60, n),
        "price": rng.normal(40, 12, n).round(2),
        "plan": rng.choice(["basic", "family", "business"], n),
        "calls": rng.poisson(2, n),
    }
)
table.loc[rng.random(n) < 0.05, "price"] = np.nan
score = 0.05 * (table["price"].fillna(40) - 40) - 0.05 * (table["months"] - 20) + 0.5 * table["calls"]
table["churned"] = np.where(score + rng.logistic(0, 1, n) > 1.5, "yes", "no")
table.to_csv(folder / "customers.csv", index=False)
table.head()

# %%
# Read it back, and keep a third for the end.  Gaps and words need no preparation.
from sklearn.model_selection import train_test_split

customers = pd.read_csv(folder / "customers.csv")
X, y = customers.drop(columns="churned"), customers["churned"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

# %%
# Which booster?
# --------------
# ``compare`` tests boosters by nested cross-validation: settings are chosen inside the training parts.  Here two
# boosters and few rounds, to be quick; from the shell it is ``boostlab compare customers.csv --target churned``.
import boostlab

result = boostlab.compare(
    X_train, y_train, ["AdaBoost", "LogitBoost"], metric="log_loss", folds=2, repeats=1, rounds=30, with_peers=False
)
result.ranking[["rank", "name", "log_loss", "low", "high", "rounds"]].round(3)

# %%
# The recommendation, as code:
print(result.advice.code)

# %%
# ``AutoBoostClassifier`` asks nothing and takes a recipe that needs no tuning.
auto = boostlab.AutoBoostClassifier(random_state=0).fit(X_train, y_train)
print(auto.choice_)

# %%
# Calibrated probabilities
# ------------------------
# ``calibrate`` fits a map from scores to probabilities on folds that the models have not seen; ``cost`` says that a
# lost customer costs five times what a needless offer costs.  A vote of trees is far too sure without the map.  The
# booster that the comparison recommends does better on customers that it has not seen: it is the model from here on.
from sklearn.metrics import log_loss

trees = boostlab.AdaBoostClassifier(max_leaf_nodes=8, n_estimators=60).fit(X_train, y_train)
calibrated = boostlab.AdaBoostClassifier(max_leaf_nodes=8, n_estimators=60, calibrate="sigmoid").fit(X_train, y_train)
model = boostlab.AdaBoostClassifier(
    n_estimators=30, learning_rate=0.1, calibrate="sigmoid", cost={("yes", "no"): 5}
).fit(X_train, y_train)
models = {"trees": trees, "trees, calibrated": calibrated, "recommended, calibrated": model}
for name, one in models.items():
    print(f"{name}: log loss {log_loss(y_test, one.predict_proba(X_test)):.3f}")

# %%
# How well calibrated?  Customers in eight groups by predicted probability, and the share of each that left.
import matplotlib.pyplot as plt

from boostlab.plots import look, tidy

figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
for number, (name, one) in enumerate(models.items()):
    probability = one.predict_proba(X_test)[:, 1]
    groups = np.array_split(np.argsort(probability), 8)
    shares = [(y_test.to_numpy()[group] == "yes").mean() for group in groups]
    axes.plot([probability[group].mean() for group in groups], shares, label=name, **look(number))
axes.plot([0, 1], [0, 1], color="grey", lw=1, ls="--")
axes.set(xlabel="predicted probability", ylabel="share that left")
axes.legend(frameon=False)
tidy(axes)

# %%
# Why this customer?
# ------------------
# The score is a sum; every column's part is an exact Shapley value.
print(model.explain(X_test.iloc[[0]]))

# %%
# Deploy it
# ---------
# A model file has no code in it, and gives the same bits wherever it is read.
model.save(folder / "churn.boost")
again = boostlab.load(folder / "churn.boost")
print((again.predict_proba(X_test) == model.predict_proba(X_test)).all())

# %%
# Without boostlab: C, SQL or JSON (and ONNX), calibrated map and decision by cost included.
for ending in ("c", "sql", "json"):
    model.export(folder / f"churn.{ending}")
    print(f"churn.{ending}: {(folder / f'churn.{ending}').stat().st_size / 1000:.0f} kB")

# %%
# The test at the end: does the database say what Python says?
import sqlite3

with sqlite3.connect(":memory:") as database:
    X_test.to_sql("rows", database, index=False)
    answers = pd.read_sql((folder / "churn.sql").read_text(encoding="utf-8"), database)
agree = (answers["label"].to_numpy() == model.predict(X_test)).mean()
print(f"SQL and Python agree on {agree:.0%} of {len(X_test)} customers")
assert agree == 1
