// Test fixture for single simulated controllers: a World that runs them, and the Events that they emit.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { type World, world } from '@lapse/runtime/world.testkit';

export interface SimulatedControllerWorld extends World {
  /** `name type reason` of each Event. */
  readonly notes: string[];
}

/** Runs a test in a World in which these simulated controllers are started. */
export const beside =
  (
    simulatedControllers: () => ControllerDefinition[],
    run: (world: SimulatedControllerWorld) => Promise<void>,
  ) =>
  async (): Promise<void> => {
    const notes: string[] = [];
    const made = await world({
      controllers: simulatedControllers(),
      enforceRights: true,
      listBy: 'pages',
      bookmarks: false,
      events: {
        pending: 0,
        close: async () => {},
        sink: {
          record: ({ metadata }, { type, reason }) => notes.push(`${metadata.name} ${type} ${reason}`),
        },
      },
    });
    try {
      made.manager.start();
      await run(Object.assign(made, { notes }));
    } finally {
      await made.close();
    }
  };

export const make = async <T extends KubeObject>(
  { user }: World,
  kind: Kind<T>,
  object: Omit<T, 'apiVersion' | 'kind'>,
): Promise<T> => {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return objectOf(await user.create(kind, { apiVersion, kind: kind.kind, ...object } as unknown as T));
};
