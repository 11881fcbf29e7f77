import { describe, expect, test } from 'vitest';
import { replay } from './replay.testkit.ts';

describe('the simulated CSI stack produces the recorded states', () => {
  test.each(['01-baseline', '03-lapse-patched', '04-errors', '05-deletion', '06-detach', '07-restore'])(
    '%s',
    async (name) => {
      const { recorded, simulated } = await replay(name);
      expect(Object.fromEntries(simulated)).toEqual(Object.fromEntries(recorded));
    },
  );
});
