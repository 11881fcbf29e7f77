import { formatHttpDate } from '@lapse/base/httpDate';
import { instant, millis, minutes, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { describe, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { inProcessTransport } from './inProcess.ts';
import { createSkew, measureSkew } from './skew.ts';
import { bytes, manualClock } from './testkit.ts';

/** A server whose clock differs from the local one by `offset`. Each request takes one round trip. */
function setup() {
  const clock = manualClock(1_700_000_000_000);
  const skew = createSkew(clock);
  const ask = async (offset: number, roundTrip = 0, more: Record<string, string> = {}) => {
    const sentAt = clock.now();
    await clock.advance(millis(roundTrip / 2));
    const date = formatHttpDate(instant(clock.now() + offset));
    await clock.advance(millis(roundTrip / 2));
    skew.observe({
      method: 'GET',
      path: '/',
      stream: false,
      status: 200,
      headers: { date, ...more },
      sentAt,
      roundTrip: millis(roundTrip),
    });
  };
  return { clock, skew, ask };
}

describe('the estimate', () => {
  it.each([
    ['same time', 0],
    ['the local clock is 10 s ahead', -10_000],
    ['the local clock is 10 s behind', 10_000],
    ['a difference of one day', 86_400_000],
    ['a difference of a fraction of a second', 300],
  ])('is the intersection of all samples and correct: %s', async (_name, offset) => {
    const { clock, skew, ask } = setup();
    for (let i = 0; i < 9; i++) {
      await ask(offset, 40);
      await clock.advance(millis(377));
    }
    const estimate = skew.estimate()!;
    expect(estimate.samples).toBe(9);
    expect(Math.abs(estimate.offset - offset)).toBeLessThanOrEqual(estimate.uncertainty);
    // One sample alone has an uncertainty of 520 ms. Nine samples at different fractions of a second have less.
    expect(estimate.uncertainty).toBeLessThan(150);
  });

  it('a burst does not displace samples from other fractions of a second', async () => {
    const { clock, skew, ask } = setup();
    for (let i = 0; i < 15; i++) {
      await ask(300, 2);
      await clock.advance(millis(77));
    }
    const { uncertainty } = skew.estimate()!;
    for (let i = 0; i < 100; i++) await ask(300, 0);
    expect(skew.estimate()!.uncertainty).toBeLessThanOrEqual(uncertainty);
    await clock.advance(seconds(5));
    await ask(300, 0);
    expect(skew.estimate()!.samples).toBe(15);
  });

  it('corrects for the truncated Date: half a second more than the header', async () => {
    const { skew, ask } = setup();
    for (let i = 0; i < 3; i++) await ask(0);
    expect(skew.estimate()?.offset).toBe(500);
  });

  it('assumes the middle between request and response', async () => {
    const { skew, ask } = setup();
    for (let i = 0; i < 3; i++) await ask(0, 2000);
    expect(skew.estimate()).toMatchObject({ offset: 500, uncertainty: 1500 });
  });

  it('needs three samples', async () => {
    const { skew, ask } = setup();
    await ask(0);
    await ask(0);
    expect(skew.estimate()).toBeUndefined();
    await ask(0);
    expect(skew.estimate()).toMatchObject({ samples: 3 });
  });

  it('ignores one outlier and follows a lasting change', async () => {
    const { skew, ask } = setup();
    for (let i = 0; i < 4; i++) await ask(0);
    await ask(3_600_000);
    expect(skew.estimate()?.offset).toBe(500);
    for (let i = 0; i < 15; i++) await ask(60_000);
    expect(skew.estimate()).toMatchObject({ offset: 60_500, samples: 15 });
  });
});

describe('responses slower than two seconds', () => {
  it.each([2002, 2500, 10_000, 30_000])('count with their uncertainty: %d ms', async (roundTrip) => {
    const { skew, ask } = setup();
    for (let i = 0; i < 3; i++) await ask(-7000, roundTrip);
    const estimate = skew.estimate()!;
    expect(estimate.uncertainty).toBeLessThanOrEqual(500 + roundTrip / 2);
    expect(Math.abs(estimate.offset + 7000)).toBeLessThanOrEqual(estimate.uncertainty);
  });

  it('do not displace faster ones, which are more certain', async () => {
    const { skew, ask } = setup();
    for (let i = 0; i < 3; i++) await ask(0, 40);
    for (let i = 0; i < 20; i++) await ask(0, 2500);
    expect(skew.estimate()).toMatchObject({ samples: 3, uncertainty: 480 });
  });

  it('are used again when the faster ones are too old', async () => {
    const { clock, skew, ask } = setup();
    for (let i = 0; i < 3; i++) await ask(0, 40);
    await clock.advance(minutes(31));
    for (let i = 0; i < 3; i++) await ask(0, 2500);
    expect(skew.estimate()).toMatchObject({ samples: 3 });
  });
});

describe('ignored samples', () => {
  const three = async (ask: () => Promise<void>) => {
    for (let i = 0; i < 3; i++) await ask();
  };
  it.each<[string, number, Record<string, string>, boolean]>([
    ['a response without a date', 0, { date: '' }, false],
    ['a malformed date', 0, { date: 'yesterday' }, false],
    ['a response from a cache', 0, { age: '5' }, false],
  ])('%s', async (_name, roundTrip, headers, counted) => {
    const { skew, ask } = setup();
    await three(() => ask(0, roundTrip, headers));
    expect(skew.estimate() !== undefined).toBe(counted);
  });

  it('a failed exchange', () => {
    const clock = manualClock();
    const skew = createSkew(clock);
    for (let i = 0; i < 3; i++)
      skew.observe({
        method: 'GET',
        path: '/',
        stream: false,
        failure: 'timeout',
        sentAt: clock.now(),
        roundTrip: millis(0),
      });
    expect(skew.estimate()).toBeUndefined();
  });

  it('samples older than half an hour', async () => {
    const { clock, skew, ask } = setup();
    await three(() => ask(0));
    await clock.advance(minutes(30));
    expect(skew.estimate()).toBeDefined();
    await clock.advance(millis(1));
    expect(skew.estimate()).toBeUndefined();
  });

  it.each([3_600_000, -3_600_000, 501])(
    'samples from before the local clock was set by %d ms',
    async (by) => {
      const { clock, skew, ask } = setup();
      await three(() => ask(0));
      clock.step(millis(by));
      expect(skew.estimate()).toBeUndefined();
      await three(() => ask(-by));
      expect(Math.abs(skew.estimate()!.offset + by)).toBeLessThanOrEqual(1000);
    },
  );

  it('a small clock correction keeps the samples', async () => {
    const { clock, skew, ask } = setup();
    await three(() => ask(0));
    clock.step(millis(400));
    expect(skew.estimate()).toBeDefined();
  });

  it('a clock step between request and response', () => {
    const clock = manualClock();
    const skew = createSkew(clock);
    for (let i = 0; i < 3; i++) {
      clock.step(seconds(-10));
      const sentAt = clock.now();
      clock.step(seconds(10));
      const headers = { date: formatHttpDate(clock.now()) };
      skew.observe({
        method: 'GET',
        path: '/',
        stream: false,
        status: 200,
        headers,
        sentAt,
        roundTrip: millis(5),
      });
    }
    expect(skew.estimate()).toBeUndefined();
  });
});

describe('measureSkew', () => {
  function client(date: (count: number) => string) {
    const clock = manualClock();
    const skew = createSkew(clock);
    let requests = 0;
    const handler = async () => ({ status: 403, headers: { date: date(++requests) }, body: bytes('{}') });
    const { raw } = createClient({
      transport: inProcessTransport(handler),
      clock,
      random: seededRandom(1),
      observe: (exchange) => skew.observe(exchange),
    });
    return { skew, raw, requests: () => requests, now: formatHttpDate(clock.now()) };
  }

  it('sends three requests and accepts any response', async () => {
    const { skew, raw, requests } = client(() => formatHttpDate(manualClock().now()));
    expect(await measureSkew(skew, raw)).toMatchObject({ samples: 3 });
    expect(requests()).toBe(3);
    await measureSkew(skew, raw);
    expect(requests()).toBe(3);
  });

  it('gives up if the server sends no dates', async () => {
    const { skew, raw, requests } = client(() => '');
    expect(await measureSkew(skew, raw)).toBeUndefined();
    expect(requests()).toBe(5);
  });
});
