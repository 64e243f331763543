import argparse

import click
import typer

tool = typer.Typer()


@click.group()
def main(): ...


@main.command("send")
@click.option("--fast", is_flag=True)
def send_parcel(fast): ...


@main.command()
def list_all(): ...


@tool.command()
def weigh(grams: int): ...


def run():
    parser = argparse.ArgumentParser(prog="doors")
    commands = parser.add_subparsers()
    commands.add_parser("open")
    parser.parse_args()


if __name__ == "__main__":
    run()
