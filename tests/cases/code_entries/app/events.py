from faststream.kafka import KafkaBroker

broker = KafkaBroker()


@broker.subscriber("parcels.sent")
async def on_sent(message): ...
