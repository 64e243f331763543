from apscheduler.schedulers.background import BackgroundScheduler
from celery import Celery, shared_task
from celery.schedules import crontab

queue = Celery("jobs")
clock = BackgroundScheduler()


@queue.task(queue="slow")
def sort_parcels(): ...


@shared_task(name="doors.close")
def close_doors(): ...


@clock.scheduled_job("cron", hour=3)
def clean(): ...


def count(): ...


clock.add_job(count, "interval", minutes=5)
queue.conf.beat_schedule = {
    "nightly": {"task": "doors.close", "schedule": crontab(hour=2)},
}
