import { instant, millis, plus, seconds } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { type CsiFault, SimulatedDriver } from './driver.ts';

const NOW = instant(0);
const REQUEST = { name: 'snapshot-1', volume: 'v' };

function driverWith(...faults: readonly CsiFault[]): SimulatedDriver {
  const driver = new SimulatedDriver('d');
  driver.inject(...faults);
  return driver;
}

describe('the simulated CSI driver', () => {
  test('takes one snapshot per name', () => {
    const driver = driverWith();
    const [first, second] = [driver.createSnapshot(REQUEST, NOW), driver.createSnapshot(REQUEST, NOW)];
    expect(first).toEqual(second);
    expect(driver.snapshots).toHaveLength(1);
  });

  test('continues a slow call until it ends', () => {
    const driver = driverWith({ method: 'CreateSnapshot', delay: seconds(30), times: 1 });
    const until = plus(NOW, seconds(30));
    expect(driver.createSnapshot(REQUEST, NOW)).toEqual({ kind: 'running', until });
    expect(driver.createSnapshot(REQUEST, plus(NOW, seconds(29)))).toEqual({ kind: 'running', until });
    expect(driver.createSnapshot(REQUEST, until)).toMatchObject({ kind: 'ok', value: { createdAt: NOW } });
  });

  test.each<[string, boolean, number]>([
    ['a failed call takes no snapshot', false, 0],
    ['a call whose response is lost takes the snapshot', true, 1],
  ])('%s', (_, lost, snapshots) => {
    const error = { code: 'Unavailable', message: 'down' } as const;
    const driver = driverWith({ method: 'CreateSnapshot', of: REQUEST.name, times: 1, lost, error });
    expect(driver.createSnapshot(REQUEST, NOW)).toEqual({ kind: 'error', ...error });
    expect(driver.snapshots).toHaveLength(snapshots);
    expect(driver.createSnapshot(REQUEST, NOW)).toMatchObject({ kind: 'ok' });
    expect(driver.snapshots).toHaveLength(1);
  });

  test('reports a snapshot as not ready for the given time', () => {
    const driver = driverWith({ method: 'CreateSnapshot', notReadyFor: millis(100) });
    const isReady = (at: number) => driver.createSnapshot(REQUEST, instant(at));
    expect(isReady(0)).toMatchObject({ value: { ready: false } });
    expect(isReady(99)).toMatchObject({ value: { ready: false } });
    expect(isReady(100)).toMatchObject({ value: { ready: true } });
  });

  test('refuses a volume from a snapshot that was deleted', () => {
    const driver = driverWith();
    const reply = driver.createSnapshot(REQUEST, NOW);
    const from = reply.kind === 'ok' ? reply.value.handle : '';
    expect(driver.getSnapshot(from, NOW)).toMatchObject({ kind: 'ok' });
    driver.deleteSnapshot(from, NOW);
    expect(driver.getSnapshot(from, NOW)).toMatchObject({ code: 'NotFound' });
    const request = { name: 'pvc-1', size: 1, from };
    expect(driver.createVolume(request, NOW)).toMatchObject({ code: 'NotFound' });
  });

  test('without a name it serves every CSI driver, and unknown snapshots exist until they are deleted', () => {
    const driver = new SimulatedDriver();
    expect(
      ['csi.example.com', 'kubernetes.io/no-provisioner', ''].map((name) => driver.serves(name)),
    ).toEqual([true, false, false]);
    expect(driver.getSnapshot('old', NOW)).toMatchObject({ kind: 'ok', value: { ready: true } });
    driver.deleteSnapshot('old', NOW);
    expect(driver.getSnapshot('old', NOW)).toMatchObject({ code: 'NotFound' });
  });

  test('applies the fault of a call before injected faults', () => {
    const error = { code: 'Internal', message: 'asked for' } as const;
    const driver = driverWith({ method: 'CreateSnapshot', times: 1, delay: seconds(30) });
    const fault = { method: 'CreateSnapshot', error } as const;
    expect(driver.createSnapshot({ ...REQUEST, fault }, NOW)).toEqual({ kind: 'error', ...error });
    expect(driver.createSnapshot(REQUEST, NOW)).toMatchObject({ kind: 'running' });
  });
});
