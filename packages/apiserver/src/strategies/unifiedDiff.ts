// The unified diff in some errors: two texts line by line, three lines of context, no file headers. Finds matching
// blocks like Python's difflib (and its Go port in Kubernetes): longest first, earliest wins.

interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

interface Span {
  readonly aLow: number;
  readonly aHigh: number;
  readonly bLow: number;
  readonly bHigh: number;
}

const CONTEXT = 3;
/** Longer texts are not searched for common blocks in the middle: the cost is quadratic. */
const MAX_LINES = 4000;
/** In texts of at least this many lines, a line with more than one percent of them starts no match. */
const MANY_LINES = 200;

export function unifiedDiff(before: string, after: string): string {
  const a = before.split('\n');
  const b = after.split('\n');
  const blocks = Math.max(a.length, b.length) > MAX_LINES ? commonEnds(a, b) : matchingBlocks(a, b);
  const groups = groupEdits(editsOf(blocks, a.length, b.length));
  return groups.map((group) => printGroup(group, a, b)).join('');
}

function commonEnds(a: string[], b: string[]): Block[] {
  const most = Math.min(a.length, b.length);
  let [head, tail] = [0, 0];
  while (head < most && a[head] === b[head]) head++;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const ends = [
    { a: 0, b: 0, size: head },
    { a: a.length - tail, b: b.length - tail, size: tail },
  ];
  return ends.filter(({ size }) => size > 0);
}

interface Texts {
  readonly a: string[];
  readonly b: string[];
  /** The positions of each line in `b`. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

function matchingBlocks(a: string[], b: string[]): Block[] {
  const blocks: Block[] = [];
  const whole = { aLow: 0, aHigh: a.length, bLow: 0, bHigh: b.length };
  collectBlocks({ a, b, places: placesOf(b) }, whole, blocks);
  return merged(blocks);
}

function placesOf(lines: string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  lines.forEach((line, i) => {
    const known = places.get(line);
    if (known) known.push(i);
    else places.set(line, [i]);
  });
  const popular = lines.length >= MANY_LINES ? Math.floor(lines.length / 100) + 1 : lines.length;
  for (const [line, where] of places) if (where.length > popular) places.delete(line);
  return places;
}

function collectBlocks(texts: Texts, span: Span, out: Block[]): void {
  const best = longestMatch(texts, span);
  if (best.size === 0) return;
  const { aLow, aHigh, bLow, bHigh } = span;
  collectBlocks(texts, { aLow, aHigh: best.a, bLow, bHigh: best.b }, out);
  out.push(best);
  collectBlocks(texts, { aLow: best.a + best.size, aHigh, bLow: best.b + best.size, bHigh }, out);
}

function longestMatch(texts: Texts, span: Span): Block {
  const { a, places } = texts;
  const { aLow, aHigh, bLow, bHigh } = span;
  let best: Block = { a: aLow, b: bLow, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = aLow; i < aHigh; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i]!) ?? []) {
      if (j < bLow) continue;
      if (j >= bHigh) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  return extended(texts, span, best);
}

/** Lines that start no match may still extend one. */
function extended({ a, b }: Texts, { aLow, aHigh, bLow, bHigh }: Span, block: Block): Block {
  let { a: from, b: at, size } = block;
  while (from > aLow && at > bLow && a[from - 1] === b[at - 1])
    [from, at, size] = [from - 1, at - 1, size + 1];
  while (from + size < aHigh && at + size < bHigh && a[from + size] === b[at + size]) size++;
  return { a: from, b: at, size };
}

/** Merges adjacent blocks. */
function merged(blocks: Block[]): Block[] {
  const out: Block[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (last && last.a + last.size === block.a && last.b + last.size === block.b)
      out[out.length - 1] = { ...last, size: last.size + block.size };
    else out.push(block);
  }
  return out;
}

interface Edit {
  readonly kind: 'equal' | 'change';
  readonly aFrom: number;
  readonly aTo: number;
  readonly bFrom: number;
  readonly bTo: number;
}

function editsOf(blocks: readonly Block[], aLength: number, bLength: number): Edit[] {
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  for (const { a, b, size } of [...blocks, { a: aLength, b: bLength, size: 0 }]) {
    if (i < a || j < b) edits.push({ kind: 'change', aFrom: i, aTo: a, bFrom: j, bTo: b });
    [i, j] = [a + size, b + size];
    if (size > 0) edits.push({ kind: 'equal', aFrom: a, aTo: i, bFrom: b, bTo: j });
  }
  return edits;
}

/** The last lines of a common run: the context before a change. */
const tailOf = (edit: Edit): Edit => ({
  ...edit,
  aFrom: Math.max(edit.aFrom, edit.aTo - CONTEXT),
  bFrom: Math.max(edit.bFrom, edit.bTo - CONTEXT),
});

/** The first lines of a common run: the context after a change. */
const headOf = (edit: Edit): Edit => ({
  ...edit,
  aTo: Math.min(edit.aTo, edit.aFrom + CONTEXT),
  bTo: Math.min(edit.bTo, edit.bFrom + CONTEXT),
});

/** Groups edits with their context; distant changes become separate hunks. */
function groupEdits(edits: Edit[]): Edit[][] {
  const groups: Edit[][] = [];
  let group: Edit[] = [];
  for (const [n, edit] of edits.entries()) {
    const length = edit.aTo - edit.aFrom;
    if (edit.kind === 'change') group.push(edit);
    else if (n === 0) group.push(tailOf(edit));
    else if (n === edits.length - 1) group.push(headOf(edit));
    else if (length > 2 * CONTEXT) {
      groups.push([...group, headOf(edit)]);
      group = [tailOf(edit)];
    } else group.push(edit);
  }
  if (group.some((e) => e.kind === 'change')) groups.push(group);
  return groups;
}

const range = (from: number, to: number): string => {
  const length = to - from;
  if (length === 1) return `${from + 1}`;
  return `${length === 0 ? from : from + 1},${length}`;
};

function printGroup(group: Edit[], a: string[], b: string[]): string {
  const [first, last] = [group[0]!, group.at(-1)!];
  const lines = [`@@ -${range(first.aFrom, last.aTo)} +${range(first.bFrom, last.bTo)} @@`];
  for (const edit of group) {
    const removed = a.slice(edit.aFrom, edit.aTo);
    if (edit.kind === 'equal') lines.push(...removed.map((l) => ` ${l}`));
    else {
      lines.push(...removed.map((l) => `-${l}`));
      lines.push(...b.slice(edit.bFrom, edit.bTo).map((l) => `+${l}`));
    }
  }
  return `${lines.join('\n')}\n`;
}
