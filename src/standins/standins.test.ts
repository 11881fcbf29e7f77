import { describe, expect, test } from 'vitest';
import { STANDINS, standinsNamed } from './standins.ts';

const all = STANDINS.map(({ name }) => name);
const namesOf = (list: string) => standinsNamed(list.split(',')).map(({ name }) => name);

describe('stand-ins by name', () => {
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
      new RegExp(`^unknown stand-in "[^"]+"; there are: ${all.join(', ')}$`),
    ),
  );

  test('a controller has the name it is asked for by', () =>
    expect(standinsNamed(['*']).map(({ name }) => name)).toEqual(all));

  test('each call makes them anew', () => {
    const [first] = standinsNamed(['owner-gc']);
    expect(standinsNamed(['owner-gc'])[0]).not.toBe(first);
  });
});
