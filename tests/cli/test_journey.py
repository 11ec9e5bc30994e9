"""From a raw table to a model in use: fit, predict, explain and card, through the command line."""

import csv
import gzip
import io

import numpy as np
import pytest
from typer.testing import CliRunner

from boostlab.cli import app

N = 80


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in a folder that holds shop.csv, an export as people get them."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(N):
        a, b = rng.normal(size=2)
        kept = "Yes" if a + b > 0 else "No"
        price = f'"${1000 + 300 * a:,.2f}"'
        rows.append(f"{i},{b:.3f},{price},{1 + i % 28:02d}.{1 + i % 12:02d}.2024,{'red' if a > 0 else 'blue'},{kept}")
    (tmp_path / "shop.csv").write_text("\n".join(["id,size,price,sent,<i>colour</i>,kept", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(here):
    def call(*arguments, **more):
        result = CliRunner().invoke(app, [*map(str, arguments)], **more)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_and_predict_a_shuffled_extended_reencoded_file(run, here):
    fitted = run("fit", "shop.csv", "--target", "kept", "--booster", "adaboost", "--set", "n_estimators=5")
    assert fitted.exit_code == 0
    assert "n_estimators=5, random_state=0), fitted in" in " ".join(fitted.stdout.split())
    assert "boostlab predict model.boost new.csv" in fitted.stdout
    plain = run("predict", "model.boost", "shop.csv", "--proba")
    scores = {row["id"]: (row["predicted kept"], row["P(No)"], row["P(Yes)"]) for row in rows_of(plain.stdout)}
    assert len(scores) == N
    assert sum(row["predicted kept"] == row["kept"] for row in rows_of(plain.stdout)) > 0.8 * N
    given = rows_of((here / "shop.csv").read_text())
    names = ["new one", *reversed(list(given[0]))]
    order = np.random.default_rng(1).permutation(N)
    lines = [";".join(names)]
    lines += [";".join(["x", *(f'"{given[i][name]}"' for name in names[1:])]) for i in order]
    (here / "new.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode("utf-16")))
    done = run("predict", "model.boost", "new.csv.gz", "--proba", "--out", "scored.csv")
    assert done.stderr == f"{N} rows: scored.csv\n"
    scored = rows_of((here / "scored.csv").read_text())
    assert [row["id"] for row in scored] == [given[i]["id"] for i in order]
    assert {row["id"]: (row["predicted kept"], row["P(No)"], row["P(Yes)"]) for row in scored} == scores
    assert next(iter(scored[0])) == "new one"
    short = run("predict", "model.boost", "shop.csv", "--columns", "drop", "--out", "short.csv.gz")
    assert short.exit_code == 0
    assert gzip.decompress((here / "short.csv.gz").read_bytes()).decode().splitlines()[0] == "predicted kept"


def test_a_page_and_a_card_of_one_model(run, here):
    run("fit", "shop.csv", "--target", "kept", "--booster", "logitboost", "--set", "n_estimators=5", "--out", "m.boost")
    assert run("explain", "m.boost", "shop.csv").stdout == "The page: m.html\n"
    page = (here / "m.html").read_text()
    for text in ("Its answers", "What it looks at", "What it takes", "&lt;i&gt;colour&lt;/i&gt;", "%d.%m.%Y"):
        assert text in page
    assert "<i>colour" not in page
    assert run("explain", "m.boost", "--out", "plain.html").exit_code == 0
    told = rows_of(run("predict", "m.boost", "shop.csv", "--columns", "drop", "--explain").stdout)
    assert len(told) == N
    assert any(float(row["contribution of price"]) != 0.0 for row in told)
    card = run("card", "m.boost").stdout
    for text in ("# Model card: kept", "one of 2 classes: No, Yes", "- price: a number in $", "red", "id (an id?"):
        assert text in card


def test_numbers_and_auto_from_standard_input(run, here):
    table = (here / "shop.csv").read_text()
    done = run("fit", "-", "--target", "size", "--out", "n.boost", input=table)
    assert done.exit_code == 0, done.stderr
    assert "L2Boost with trees of 3 leaves" in " ".join(done.stdout.split())
    scored = run("predict", "n.boost", "-", "--columns", "drop", input=table)
    assert (scored.exit_code, scored.stderr) == (0, "")
    assert np.isfinite([float(row["predicted size"]) for row in rows_of(scored.stdout)]).sum() == N


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "shop.csv", "--booster", "AdaBost"], "There is no booster 'AdaBost'; did you mean AdaBoost?"),
        (["fit", "shop.csv", "--set", "n_estimators=3"], "--set needs a booster"),
        (["fit", "shop.csv", "--booster", "AdaBoost", "--set", "rounds=3"], "AdaBoost has no parameter 'rounds'"),
        (["fit", "shop.csv", "--booster", "AdaBoost", "--set", "rounds"], "--set rounds is no setting"),
        (["fit", "shop.csv", "--booster", "AdaBoost", "--set", "n_estimators=0"], "AdaBoostClassifier: n_estimators=0"),
        (["fit", "shop.csv", "--booster", "AdaBoost", "--budget", "5m"], "--budget is the time of --auto"),
        (["fit", "shop.csv", "--booster", "AdaBoost", "--auto"], "--auto lets AutoBoost choose"),
        (["fit", "shop.csv", "--target", "size", "--booster", "AdaBoost"], "AdaBoost does not predict numbers"),
        (["predict", "no.boost", "shop.csv"], "There is no model file no.boost; boostlab fit TABLE --out no.boost"),
        (["predict", "shop.csv", "shop.csv"], "shop.csv holds no recipe of a table"),
        (["card", "shop.csv"], "shop.csv holds no recipe of a table"),
    ],
)
def test_mistakes_get_one_sentence(run, arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"boostlab: {sentence}")
    assert result.stderr.count("\n") == 1


def test_a_table_that_does_not_fit_the_model(run, here):
    run("fit", "shop.csv", "--target", "kept", "--booster", "adaboost", "--set", "n_estimators=2")
    (here / "bad.csv").write_text("id,size\n1,2\n")
    assert (
        "bad.csv lacks 3 of the 4 columns that the model takes: price, sent,"
        in run("predict", "model.boost", "bad.csv").stderr
    )
    assert not (here / "scored.csv").exists()
    (here / "ragged.csv").write_text((here / "shop.csv").read_text() + "1,2\n")
    refused = run("predict", "model.boost", "ragged.csv", "--out", "scored.csv")
    assert "ragged.csv is not a table: line 82 has 2 cells" in refused.stderr
    assert not (here / "scored.csv").exists()
