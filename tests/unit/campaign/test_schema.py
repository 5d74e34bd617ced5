import pytest
import sqlalchemy as sa

import labelworth as lw
from labelworth.campaign import schema
from labelworth.campaign.campaign import Campaign


def shape(engine) -> dict[str, object]:
    """Tables with their columns, and indexes."""
    found = sa.inspect(engine)
    return {
        name: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in found.get_columns(name)],
            sorted(index["name"] or "" for index in found.get_indexes(name)),
        )
        for name in sorted(found.get_table_names())
    }


def an_old_one(begin, version: int) -> Campaign:
    """A campaign as version `version` left it, with an answer."""
    campaign = begin()
    campaign.add([{"text": "one", "label": "ham"}, "two"])
    campaign.assign(count=1)
    ann = campaign.invite("ann", price=0.5).person
    (task,) = campaign.lease(ann)
    campaign.answer(ann, task.request.id, "spam", key="1")
    with campaign._store.engine.begin() as connection:
        for table in reversed(schema.METADATA.sorted_tables):
            if table.info["since"] > version:
                table.drop(connection)
        for since, index in schema._INDEXES:
            if version < since and index.table.info["since"] <= version:
                index.drop(connection)
        connection.exec_driver_sql(f"UPDATE lw_settings SET value = '{version}' WHERE key = 'schema_version'")
    return campaign


def test_steps_are_numbered_from_one():
    assert [step.version for step in schema.STEPS] == list(range(1, schema.VERSION + 1))


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_older_campaigns_are_brought_up_to_now(begin, where, clock, tmp_path, version):
    old = an_old_one(begin, version)
    assert "lw_plans" not in shape(old._store.engine)
    old.close()
    with Campaign.open(where, clock=clock) as campaign:
        status = campaign.status()
        assert (status.given, status.n_labeled, status.spent, status.behind) == (1, 2, 0.5, 0)
        upgraded = shape(campaign._store.engine)
    if "://" not in where:
        with Campaign.create(tmp_path / "new.db", name="x", classes=["a", "b"]) as new:
            assert upgraded == shape(new._store.engine)


def test_newer_campaigns_are_refused_in_words(begin, where):
    campaign = begin()
    with campaign._store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE lw_settings SET value = '99' WHERE key = 'schema_version'")
    campaign.close()
    with pytest.raises(lw.InvalidInputError, match=r"version 99.*install a newer one"):
        Campaign.open(where)


def test_tables_are_those_that_the_steps_make(begin):
    engine = begin()._store.engine
    assert set(shape(engine)) == set(schema.METADATA.tables)
    for name, (columns, indexes) in shape(engine).items():
        table = schema.METADATA.tables[name]
        assert [column[0] for column in columns] == [column.name for column in table.columns]
        assert set(indexes) >= {index.name for index in table.indexes}


@pytest.mark.parametrize("url", ["mysql://u:secret@h/x", "sqlite:///x.db", "postgresql://u:secret@h:port/x"])
def test_other_databases_are_refused_and_passwords_are_not_shown(url):
    for opened in (Campaign.open, lambda where: Campaign.create(where, name="x", classes=["a", "b"])):
        with pytest.raises(lw.InvalidInputError, match="postgresql://user@host/database") as refused:
            opened(url)
        assert "secret" not in str(refused.value)
