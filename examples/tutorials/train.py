# SPDX-License-Identifier: GPL-2.0
"""train.py [ahead]: trains a small image classifier. Its images are compressed; the main thread unpacks each batch when
it needs it, or, with "ahead", another thread unpacks the next batch meanwhile. Prints steps per second.
"""
import queue
import sys
import threading
import time
import zlib

import torch

STEPS, BATCH, SIDE = 40, 256, 96

packed = [zlib.compress(bytes((i * j) % 251 for j in range(3 * SIDE * SIDE)), 1) for i in range(8)]
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 64, 5), torch.nn.ReLU(), torch.nn.Conv2d(64, 128, 5), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(128 * 16, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
target = torch.randint(10, (BATCH,), device="cuda")


def unpack_batch(number):
    images = b"".join(zlib.decompress(packed[(number + i) % len(packed)]) for i in range(BATCH))
    return torch.frombuffer(bytearray(images), dtype=torch.uint8).view(BATCH, 3, SIDE, SIDE)


def batches_in_turn():
    for number in range(STEPS):
        yield unpack_batch(number)


def batches_ahead():
    ready = queue.Queue(2)

    def work():
        for number in range(STEPS):
            ready.put(unpack_batch(number))

    threading.Thread(target=work, name="loader", daemon=True).start()
    for _ in range(STEPS):
        yield ready.get()


def train_step(images):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images.cuda().float() / 255), target)
    loss.backward()
    optimizer.step()
    return loss.item()


train_step(unpack_batch(0))
begun = time.time()
for images in batches_ahead() if "ahead" in sys.argv else batches_in_turn():
    train_step(images)
print("%.1f steps per second" % (STEPS / (time.time() - begun)))
