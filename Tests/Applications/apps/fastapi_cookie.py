"""FastAPI-Users with its cookie transport and sessions in a database."""

import sys

import requests

from harness import PYTHON, Application


class FastAPIUsers(Application):
    title = "FastAPI-Users"
    preset = "fastapi-users"
    package = "fastapi-users"
    user = "ada@example.org"
    login_path = "auth/login"
    private_path = "users/me"
    marker = '"email":"ada@example.org"'
    refusal = "LOGIN_BAD_CREDENTIALS"
    cannot = {"code": "FastAPI-Users has none"}

    def command(self):
        return [PYTHON, __file__, self.port]

    def is_ready(self):
        return requests.get(self.url("users/me")).status_code == 401

    def reference(self, user=None, password=None, code_secret=None):
        session = requests.Session()
        session.post(self.url("auth/login"), {"username": user or self.user, "password": password or self.password})
        return session

    def reference_write(self, session, value):
        session.patch(self.url("users/me"), json={"motto": value}).raise_for_status()

    def reference_logout(self, session):
        session.post(self.url("auth/logout"))

    def written(self, value):
        return f'"motto":"{value}"' in self.reference().get(self.url("users/me")).text

    def write_words(self, value):
        return ["-X", "PATCH", "--json", f'{{"motto": "{value}"}}', self.url("users/me")]

    def forget(self):
        self.sql("site.db", "DELETE FROM accesstoken")


def serve(port):
    """The application from its documentation, with an additional column for users."""
    import contextlib
    import uuid

    import uvicorn
    from fastapi import Depends, FastAPI
    from fastapi_users import BaseUserManager, FastAPIUsers as Users, UUIDIDMixin, schemas
    from fastapi_users.authentication import AuthenticationBackend, CookieTransport
    from fastapi_users.authentication.strategy.db import DatabaseStrategy
    from fastapi_users_db_sqlalchemy import SQLAlchemyBaseUserTableUUID, SQLAlchemyUserDatabase
    from fastapi_users_db_sqlalchemy.access_token import SQLAlchemyAccessTokenDatabase, SQLAlchemyBaseAccessTokenTableUUID
    from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

    class Base(DeclarativeBase):
        pass

    class User(SQLAlchemyBaseUserTableUUID, Base):
        motto: Mapped[str] = mapped_column(default="")

    class AccessToken(SQLAlchemyBaseAccessTokenTableUUID, Base):
        pass

    class UserRead(schemas.BaseUser[uuid.UUID]):
        motto: str

    class UserCreate(schemas.BaseUserCreate):
        pass

    class UserUpdate(schemas.BaseUserUpdate):
        motto: str | None = None

    engine = create_async_engine("sqlite+aiosqlite:///site.db")
    maker = async_sessionmaker(engine, expire_on_commit=False)

    async def database():
        async with maker() as session:
            yield session

    class Manager(UUIDIDMixin, BaseUserManager[User, uuid.UUID]):
        reset_password_token_secret = verification_token_secret = "only-for-tests"

    async def manager(session=Depends(database)):
        yield Manager(SQLAlchemyUserDatabase(session, User))

    def strategy(session=Depends(database)):
        return DatabaseStrategy(SQLAlchemyAccessTokenDatabase(session, AccessToken), lifetime_seconds=3600)

    backend = AuthenticationBackend("cookie", CookieTransport(cookie_max_age=3600, cookie_secure=False), strategy)
    users = Users[User, uuid.UUID](manager, [backend])

    @contextlib.asynccontextmanager
    async def lifespan(_):
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with maker() as session:
            await Manager(SQLAlchemyUserDatabase(session, User)).create(
                UserCreate(email=FastAPIUsers.user, password=FastAPIUsers.password))
        yield

    application = FastAPI(lifespan=lifespan)
    application.include_router(users.get_auth_router(backend), prefix="/auth")
    application.include_router(users.get_users_router(UserRead, UserUpdate), prefix="/users")
    uvicorn.run(application, host="127.0.0.1", port=port, log_level="info")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
