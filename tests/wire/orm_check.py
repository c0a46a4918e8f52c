"""What ORMs do at their start and all day: SQLAlchemy creates, reflects and changes tables; Django migrates its own applications."""
import datetime
import decimal
import enum
import os
import uuid

import pymysql

PLACE = dict(host=os.environ["WIRE_HOST"], port=int(os.environ["WIRE_PORT"]), user="root", charset="utf8mb4")


def fresh(name):
    with pymysql.connect(**PLACE) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name}")


def sqlalchemy():
    import sqlalchemy as sa
    from sqlalchemy import orm
    from sqlalchemy.dialects import mysql

    fresh("wire_sa")
    engine = sa.create_engine(f"mysql+pymysql://root@{PLACE['host']}:{PLACE['port']}/wire_sa?charset=utf8mb4", pool_pre_ping=True)

    class Base(orm.DeclarativeBase):
        pass

    class Color(enum.Enum):
        red = 1
        green = 2

    class User(Base):
        __tablename__ = "users"
        __table_args__ = (sa.UniqueConstraint("email", name="uq_email"), sa.Index("ix_name_born", "name", "born"), {"comment": "people"})
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        name: orm.Mapped[str] = orm.mapped_column(sa.String(50), comment="it's")
        email: orm.Mapped[str | None] = orm.mapped_column(sa.String(100))
        born: orm.Mapped[datetime.date | None]
        balance: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(12, 2), server_default="1.50")
        color: orm.Mapped[Color] = orm.mapped_column(default=Color.red)
        mark: orm.Mapped[uuid.UUID] = orm.mapped_column(default=uuid.uuid4)
        raw: orm.Mapped[bytes | None]
        extras: orm.Mapped[dict | None] = orm.mapped_column(sa.JSON)
        changed: orm.Mapped[datetime.datetime] = orm.mapped_column(
            mysql.TIMESTAMP(fsp=6), server_default=sa.text("CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)"))
        version: orm.Mapped[int] = orm.mapped_column()
        posts: orm.Mapped[list["Post"]] = orm.relationship(back_populates="user", cascade="all, delete-orphan")
        __mapper_args__ = {"version_id_col": version}

    class Post(Base):
        __tablename__ = "posts"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        user_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("users.id"), index=True)
        score: orm.Mapped[int] = orm.mapped_column(mysql.INTEGER(unsigned=True), server_default="0")
        body: orm.Mapped[str] = orm.mapped_column(mysql.LONGTEXT)
        user: orm.Mapped[User] = orm.relationship(back_populates="posts")

    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)

    # Reflection finds what was created.
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["posts", "users"]
    columns = {column["name"]: column for column in inspector.get_columns("users")}
    assert {name: column["type"].compile(engine.dialect) for name, column in columns.items()} == {
        "id": "INTEGER", "name": "VARCHAR(50)", "email": "VARCHAR(100)", "born": "DATE", "balance": "DECIMAL(12, 2)",
        "color": "ENUM('red','green')", "mark": "CHAR(32)", "raw": "BLOB", "extras": "JSON", "changed": "TIMESTAMP(6)", "version": "INTEGER"}
    assert [name for name, column in columns.items() if column["nullable"]] == ["email", "born", "raw", "extras"]
    assert columns["name"]["comment"] == "it's"
    assert columns["balance"]["default"] == "'1.50'"
    assert columns["changed"]["default"] == "CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)"
    assert inspector.get_table_comment("users") == {"text": "people"}
    assert [(key["name"], key["column_names"]) for key in inspector.get_unique_constraints("users")] == [("uq_email", ["email"])]
    assert inspector.get_pk_constraint("posts")["constrained_columns"] == ["id"]
    foreign = inspector.get_foreign_keys("posts")
    assert [(key["constrained_columns"], key["referred_table"]) for key in foreign] == [(["user_id"], "users")], foreign

    with orm.Session(engine) as session, orm.Session(engine) as other:
        ann = User(name="Ann", email="ann@x", born=datetime.date(2000, 2, 29), color=Color.green, raw=b"\0\xff", extras={"sizes": [1, 2], "née": "ö"})
        ann.posts = [Post(body="☃" * number, score=number) for number in range(5)]
        session.add_all([ann, *(User(name=f"n{number}", email=f"n{number}@x") for number in range(20))])
        session.commit()
        mark = ann.mark
        session.expire_all()
        found = session.scalars(sa.select(User).where(User.email == "ann@x").options(orm.selectinload(User.posts))).one()
        assert (found.mark, found.color, found.raw, found.balance) == (mark, Color.green, b"\0\xff", decimal.Decimal("1.50"))
        assert found.extras == {"sizes": [1, 2], "née": "ö"}
        sizes = User.extras["sizes"][1].as_integer()
        assert session.execute(sa.select(sizes, User.extras["née"].as_string()).where(sizes > 1)).all() == [(2, "ö")]
        assert [post.body for post in found.posts] == ["☃" * number for number in range(5)]
        best = sa.select(Post.user_id, sa.func.max(Post.score).label("best")).group_by(Post.user_id).subquery()
        asked = sa.select(User.name, best.c.best).join(best, best.c.user_id == User.id)
        assert session.execute(asked).all() == [("Ann", 4)]
        assert session.scalar(sa.select(sa.func.count()).where(User.posts.any(Post.score > 3)).select_from(User)) == 1
        # An optimistic lock, a savepoint, rows that others hold.
        theirs = other.get(User, found.id)
        found.name = "Anna"
        session.commit()
        theirs.name = "Anne"
        try:
            other.commit()
            raise AssertionError("a stale row was written")
        except orm.exc.StaleDataError:
            other.rollback()
        try:
            with session.begin_nested():
                session.add(User(name="twice", email="n1@x"))
                session.flush()
            raise AssertionError("a duplicate was written")
        except sa.exc.IntegrityError as error:
            assert error.orig.args[0] == 1062
        held = session.scalars(sa.select(User.id).order_by(User.id).limit(3).with_for_update()).all()
        free = other.scalars(sa.select(User.id).order_by(User.id).limit(3).with_for_update(skip_locked=True)).all()
        assert len(free) == 3 and not set(held) & set(free), (held, free)
        session.rollback()
        other.rollback()
        # REPEATABLE READ: the level is the connection's.
        level = session.connection(execution_options={"isolation_level": "SERIALIZABLE"}).get_isolation_level()
        assert level == "SERIALIZABLE", level
        session.rollback()
        upsert = mysql.insert(User.__table__).values(name="n1", email="n1@x", color=Color.red, mark=uuid.uuid4(), version=1)
        session.execute(upsert.on_duplicate_key_update(name=sa.func.concat(upsert.inserted.name, "!")))
        assert session.scalar(sa.select(User.name).where(User.email == "n1@x")) == "n1!"
        session.delete(found)
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Post)) == 0
    Base.metadata.drop_all(engine)
    engine.dispose()


def django():
    fresh("wire_django")
    # Django asks for mysqlclient; PyMySQL answers in its name.
    pymysql.version_info = (2, 2, 7, "final", 0)
    pymysql.install_as_MySQLdb()
    import django as framework
    from django.conf import settings

    base = "django.contrib."
    settings.configure(
        INSTALLED_APPS=[base + name for name in ("auth", "contenttypes", "sessions", "admin", "messages")],
        DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "NAME": "wire_django", "USER": "root", "HOST": PLACE["host"],
                               "PORT": PLACE["port"], "OPTIONS": {"charset": "utf8mb4"}}},
        USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", SECRET_KEY="wire", SILENCED_SYSTEM_CHECKS=["admin.E403", "admin.E409", "admin.E410", "admin.E408"])
    framework.setup()
    from django.contrib.auth.models import Group, Permission, User
    from django.core.management import call_command
    from django.db import IntegrityError, connection, transaction
    from django.db.models import Count, Exists, F, OuterRef, Q
    from django.db.models.functions import Lower, TruncMonth
    from django.utils import timezone

    call_command("migrate", verbosity=0)
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    ann = User.objects.create_superuser("ann", "ann@x", "secret")
    User.objects.bulk_create([User(username=f"n{number}", first_name="N", date_joined=timezone.now()) for number in range(20)])
    User.objects.bulk_create([User(username="n1"), User(username="m")], ignore_conflicts=True)
    User.objects.bulk_create([User(username="n1", last_name="One")], update_conflicts=True, update_fields=["last_name"])
    assert User.objects.get(username="n1").last_name == "One" and User.objects.count() == 22
    group = Group.objects.create(name="staff")
    group.permissions.set(Permission.objects.filter(codename__startswith="add_"))
    group.user_set.add(ann, *User.objects.filter(username__in=["n1", "n2"]))
    assert Group.objects.annotate(people=Count("user", distinct=True)).values_list("name", "people").get() == ("staff", 3)
    inside = User.objects.filter(Exists(Group.objects.filter(user=OuterRef("pk"))) & ~Q(username__iregex="^A"))
    assert list(inside.order_by(Lower("username").desc()).values_list("username", flat=True)) == ["n2", "n1"]
    months = User.objects.annotate(month=TruncMonth("date_joined")).values("month").annotate(people=Count("id"))
    assert sum(line["people"] for line in months) == 22
    assert User.objects.filter(last_login=None).update(first_name=F("username")) == 22
    with transaction.atomic():
        assert User.objects.select_for_update(skip_locked=True).filter(is_superuser=True).get() == ann
        try:
            with transaction.atomic():
                User.objects.create(username="ann")
            raise AssertionError("a duplicate was written")
        except IntegrityError as error:
            assert error.args[0] == 1062
    with connection.cursor() as cursor:
        keys = connection.introspection.get_constraints(cursor, "auth_user_groups")
    assert sorted(key["foreign_key"] for key in keys.values() if key["foreign_key"]) == [("auth_group", "id"), ("auth_user", "id")], keys
    assert "-> " in User.objects.filter(pk=1).explain()
    ann.delete()
    call_command("flush", interactive=False, verbosity=0)
    assert User.objects.count() == 0


sqlalchemy()
django()
