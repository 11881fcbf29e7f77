import { describe, expect, test } from 'vitest';
import { SIMULATED_CONTROLLERS, simulatedControllersNamed } from './simulatedControllers.ts';

const all = SIMULATED_CONTROLLERS.map(({ name }) => name);
/** A controller may have another name than in `--simulated-controllers`: the one under which it acts in a real cluster. */
const nameOf = new Map(SIMULATED_CONTROLLERS.map((simulated) => [simulated.create().name, simulated.name]));
const namesOf = (list: string) =>
  simulatedControllersNamed(list.split(',')).map(({ name }) => nameOf.get(name));

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
    expect([new Set(all).size, nameOf.size]).toEqual([all.length, all.length]));

  test('each call creates new controllers', () => {
    const [first] = simulatedControllersNamed(['owner-gc']);
    expect(simulatedControllersNamed(['owner-gc'])[0]).not.toBe(first);
  });
});
