import { styleText } from 'node:util';
import { describe, expect, test } from 'vitest';
import { recordingContext } from './checkpoint/checkpoint.testkit.ts';
import { documentText } from './documents.ts';
import { terminalText } from './terminalText.ts';
import { PinnedLines } from './up/pinnedLines.ts';

const HOSTILE = 'a\u001b[2J\u001b]0;title\u0007b\r\u009b31m\u202ec\u001b[8md';
const STEERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

describe('text for a terminal', () => {
  test('shows terminal control characters instead of sending them', () => {
    expect(terminalText(HOSTILE)).toBe(
      'a\\u001b[2J\\u001b]0;title\\u0007b\\u000d\\u009b31m\\u202ec\\u001b[8md',
    );
  });

  test('keeps lines, tabs, other scripts and the styles of Lapse', () => {
    const text = `a\tb\n${styleText(['red', 'bold'], 'é 日本 👩‍🚀', { validateStream: false })}\n`;
    expect(terminalText(text)).toBe(text);
  });

  test('is the same value in a JSON document', () => {
    expect(documentText({ a: HOSTILE }, 'json')).not.toMatch(STEERS);
    expect(JSON.parse(documentText({ a: HOSTILE }, 'json'))).toEqual({ a: HOSTILE });
  });

  test('is quoted in a YAML document', () => {
    expect(documentText({ a: HOSTILE }, 'yaml')).not.toMatch(STEERS);
  });
});

describe('output to a terminal', () => {
  test('of the checkpoint commands escapes control characters', async () => {
    const commandContext = recordingContext({} as never);
    await commandContext.run(async ({ out, say }) => {
      await out(`${HOSTILE}\n`);
      say(HOSTILE);
      return 0;
    });
    const { out, said } = commandContext.take();
    expect(out).not.toMatch(STEERS);
    expect(said).not.toMatch(STEERS);
  });

  test('of the live view escapes control characters', () => {
    const written: string[] = [];
    const pinned = new PinnedLines((text) => written.push(text));
    pinned.scroll(`${HOSTILE}\n`);
    expect(written.join('')).not.toMatch(STEERS);
    pinned.pin([HOSTILE]);
    expect(written.at(-1)).toBe(`${terminalText(HOSTILE)}\n`);
  });
});
