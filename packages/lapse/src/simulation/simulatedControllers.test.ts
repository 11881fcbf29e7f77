import { SimulatedDriver } from '@lapse/simulation/csi/driver';
import { describe, expect, test } from 'vitest';
import { SIMULATED_CONTROLLERS, simulatedControllersNamed } from './simulatedControllers.ts';

const all = SIMULATED_CONTROLLERS.map(({ name }) => name);
/** A name in `--simulated-controllers` may stand for several controllers, with other names. */
const created = SIMULATED_CONTROLLERS.flatMap(({ name, create }) =>
  create(new SimulatedDriver()).map((controller) => [controller.name, name] as const),
);
const nameOf = new Map(created);
const namesOf = (list: string) => [
  ...new Set(simulatedControllersNamed(list.split(',')).map(({ name }) => nameOf.get(name))),
];

describe('simulated controllers by name', () => {
  test.each([
    ['', []],
    ['*', all],
    [' owner-gc , job-finisher', ['owner-gc', 'job-finisher']],
    ['job-finisher,job-finisher', ['job-finisher']],
    ['*,-owner-gc', all.filter((name) => name !== 'owner-gc')],
    ['-owner-gc', all.filter((name) => name !== 'owner-gc')],
    ['owner-gc,-owner-gc', []],
  ])('%j', (list, names) => expect(namesOf(list)).toEqual(names));

  test.each(['nobody', '-nobody', 'owner-gc,Owner-GC', '__proto__'])('%j is refused with the list', (list) =>
    expect(() => namesOf(list)).toThrow(
      new RegExp(`^unknown simulated controller "[^"]+"; there are: ${all.join(', ')}$`),
    ),
  );

  test('names in --simulated-controllers and names of the controllers are unique', () =>
    expect([new Set(all).size, nameOf.size]).toEqual([all.length, created.length]));

  test('each call creates new controllers', () => {
    const [first] = simulatedControllersNamed(['owner-gc']);
    expect(simulatedControllersNamed(['owner-gc'])[0]).not.toBe(first);
  });
});
