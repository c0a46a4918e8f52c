"""Settings for Django's own tests: both of their databases on the server under test."""
import os

SERVER = {"ENGINE": "django.db.backends.mysql", "USER": "root", "HOST": "127.0.0.1", "PORT": os.environ["WIRE_PORT"]}
DATABASES = {alias: {**SERVER, "NAME": f"django_{alias}", "TEST": {"CHARSET": "utf8mb4"}} for alias in ("default", "other")}
SECRET_KEY = "apps"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
