// Compares the attack table of docs/operations/security.md with the rows of test/security. UPDATE_ATTACKS=1 writes it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ATTACKS } from '../security/attacks.ts';

const SECURITY = join(import.meta.dirname, '../../docs/operations/security.md');
const BEGIN = '<!-- attacks -->';
const END = '<!-- /attacks -->';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The page with the table of the current rows. */
function withAttacks(page: string): string {
  const rows = ATTACKS.map(({ name, attacker, steps, mustNotObtain, on }) => {
    const where = on === 'cluster' ? 'both API servers' : 'one process';
    return `| ${[attacker, steps, mustNotObtain, name].map(cell).join(' | ')} | ${where} |`;
  });
  const table = [
    '| Attacker | Steps | Must not obtain | What Lapse does | Tested on |',
    '|---|---|---|---|---|',
    ...rows,
  ];
  const before = page.slice(0, page.indexOf(BEGIN));
  const after = page.slice(page.indexOf(END));
  return `${before}${BEGIN}\n\n${table.join('\n')}\n\n${after}`;
}

test('docs/operations/security.md shows every attack of the table (UPDATE_ATTACKS=1 writes it)', () => {
  const page = readFileSync(SECURITY, 'utf8');
  if (process.env['UPDATE_ATTACKS'] !== undefined) writeFileSync(SECURITY, withAttacks(page));
  const shown = readFileSync(SECURITY, 'utf8');
  expect(shown).toContain(END);
  expect(shown).toBe(withAttacks(shown));
});
