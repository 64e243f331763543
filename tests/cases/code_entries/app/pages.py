from flask import Blueprint, Flask

site = Flask(__name__)
pages = Blueprint("pages", __name__, url_prefix="/pages")


@pages.route("/<name>", methods=["GET", "POST"])
def page(name): ...


@site.get("/")
def home(): ...


site.add_url_rule("/old", view_func=home)


@site.cli.command("warm")
def warm(): ...
