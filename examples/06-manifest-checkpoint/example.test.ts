// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minutes, seconds } from '@lapse/base/instant';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { expect } from 'vitest';
import { capturedObjects, checkpointOf, names } from '../../test/scenarios/manifest/kit.ts';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const yaml = read('checkpoint.yaml');
/** The timeline people are shown. */
const [, shown = ''] = /```timeline\n([^`]*)```/.exec(read('README.md')) ?? [];

scenario(
  'three objects are captured, and everything ends ten minutes later',
  async ({ given, when, then, simulation }) => {
    given.controllers('manifest-capture', 'object-keeper', 'request-ttl');
    // As `lapse up` does: there is nobody whose rights could be reviewed.
    given.configuration({ actAs: 'controller' });
    given.simulatedControllers('owner-gc');
    await given.object(yaml);
    await when.timePasses(seconds(1));
    const checkpoint = await checkpointOf(then, 'mcr/before-the-change');
    const captured = await capturedObjects(await simulation(), checkpoint);
    expect(names(captured)).toEqual(['Deployment shop', 'ConfigMap shop-settings', 'Secret shop-database']);
    expect(captured[1]!['data']).toEqual({ currency: 'CHF', greeting: 'Grüezi 👋' });
    const typo = await then.object<ManifestCaptureRequest>('mcr/a-typo');
    expect(typo.status?.conditions).toMatchObject([
      { status: 'False', reason: 'NotFound', message: 'v1 Secret default/shop-databse does not exist' },
    ]);
    await when.timePasses(minutes(10));
    await then.isGone('mcr/before-the-change');
    await then.isGone('mcr/a-typo');
    await then.isGone(`mcp/${checkpoint.metadata.name}`);
    await then.exists('configmap/shop-settings');
    const { text } = then.timeline();
    expect(text.replaceAll(checkpoint.metadata.name!, 'mcp-<id>').replace(/ +/g, ' ')).toBe(
      shown.trim().replace(/ +/g, ' '),
    );
  },
);
