"""Makes meter.csv: a week of half-hours of a household whose appliances are known. The program reads hour and kwh alone."""

import math
import random

# kWh in half an hour, and the chances to be switched on and off in half an hour.
APPLIANCES = {"heater": (0.53, 0.08, 0.40), "pump": (1.30, 0.15, 0.20), "car": (3.40, 0.02, 0.20)}
BASE, BY_MORNING, BY_NIGHT, NOISE = 0.40, 0.03, -0.06, 0.15

random.seed(2026)
on = dict.fromkeys(APPLIANCES, 0)
print("day,hour,kwh,heater,pump,car")
for half_hour in range(7 * 48):
    day, hour = half_hour // 48 + 1, half_hour % 48 / 2
    for name, (_, start, stop) in APPLIANCES.items():
        change = stop if on[name] else start
        on[name] ^= random.random() < change
    angle = 2 * math.pi * hour / 24
    usual = BASE + BY_MORNING * math.sin(angle) + BY_NIGHT * math.cos(angle)
    kwh = usual + sum(APPLIANCES[name][0] * is_on for name, is_on in on.items()) + random.gauss(0, NOISE)
    print(f"{day},{hour},{kwh:.3f},{','.join(str(int(is_on)) for is_on in on.values())}")
