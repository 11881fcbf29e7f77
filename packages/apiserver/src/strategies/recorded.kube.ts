// Checks that kube-apiserver still responds as recorded.

import { expect, test } from 'vitest';
import { useRealServer } from '../../../../test/conformance/realServer.ts';
import { families, loadFamily, play } from './recorded.testkit.ts';

const real = useRealServer();

let count = 0;

test.each(families())('%s', async (family) => {
  for (const probe of loadFamily(family)) {
    const got = await play(
      { send: real.target.request, token: real.bed.adminToken },
      probe,
      `recorded-${++count}`,
    );
    expect({ name: probe.name, steps: got }).toEqual(probe);
  }
});
