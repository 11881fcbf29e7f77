// Scenario tests. `given` sets up the cluster, `when` is a user, time or a fault, `then` reads the cluster through the
// API. After each scenario everything is reconciled once more: a controller that is done must not write again.

import type { WatchBreak } from '@lapse/simulation/streams';
import { test } from 'vitest';
import type { Scene } from './scene.ts';
import { runScene } from './sceneRunner.ts';

export function scenario(name: string, body: (scene: Scene) => Promise<void>): void {
  test(name, () => runScene(body));
}

/** One scenario per row, named by its key. */
scenario.each = <Row>(
  rows: Readonly<Record<string, Row>>,
  body: (scene: Scene, row: Row) => Promise<void>,
): void => {
  for (const [name, row] of Object.entries(rows)) test(name, () => runScene((scene) => body(scene, row)));
};

/** The ways in which a watch can end, as rows. */
export const WATCH_ENDS = {
  'watches end': 'end',
  'watches are cut in the middle of a line': 'cut',
  'watches end with 410': 'gone',
} as const satisfies Record<string, WatchBreak>;
