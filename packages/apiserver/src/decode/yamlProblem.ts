// YAML syntax errors with the messages of the parser in kube-apiserver. That parser finds the same errors as ours but
// names what it expected at the token where it stopped. The token follows from the kind of error and the surrounding
// text.

import type { YAMLParseError } from 'yaml';

/**
 * The error message and the index of the offending character. Token errors and grammar errors count lines
 * differently.
 */
interface Fault {
  readonly says: string;
  readonly at: number;
  readonly of: 'token' | 'grammar';
}

export function describeYamlProblem(text: string, errors: readonly YAMLParseError[]): string {
  const fault = faultOf(text, errors);
  const line = lineOf(text, fault);
  return `yaml: ${line === 0 ? '' : `line ${line}: `}${fault.says}`;
}

/** The first line is not named; grammar errors name the line before. The end of a text is on its own line. */
function lineOf(text: string, { at, of }: Fault): number {
  const before = text.slice(0, at).split('\n').length - 1;
  const isOpenEnd = at >= text.length && !text.endsWith('\n') && text !== '';
  const line = before + (isOpenEnd ? 1 : 0);
  return line === 0 || of === 'grammar' ? line : line + 1;
}

const token = (says: string, at: number): Fault => ({ says, at, of: 'token' });
const grammar = (says: string, at: number): Fault => ({ says, at, of: 'grammar' });

const NODE = 'did not find expected node content';
const KEY = 'did not find expected key';
const ITEM = "did not find expected '-' indicator";
const COLON = "could not find expected ':'";
const VALUE = 'mapping values are not allowed in this context';

type Describe = (text: string, from: number, to: number) => Fault;

/** Keyed by the start of our parser's message. */
const FAULTS: readonly (readonly [RegExp, Describe])[] = [
  [/^Tabs are not allowed|^Plain value cannot start/, (_, from) => token(START, from)],
  [/^Implicit map keys need to be followed/, (text, _, to) => token(COLON, nextToken(text, to))],
  [/^Implicit keys need to be on a single line/, longKey],
  [/^Nested mappings are not allowed/, (text, from) => token(VALUE, text.indexOf(':', from))],
  [/^All mapping items must start/, (_, from) => grammar(KEY, from)],
  [/^All sequence items must start/, (_, from) => grammar(ITEM, from)],
  [/^Unexpected , in flow/, (_, from) => grammar(NODE, from)],
  [/^Flow (sequence|map)\b/, (text, from) => grammar(inFlow(text, from), from)],
  [
    /^Missing , or :|^Block collections are not allowed/,
    (text, from, to) => grammar(between(text, from), to),
  ],
  [/^Unexpected flow-\w+-end token/, (text, from) => grammar(isValueMissing(text, from) ? NODE : KEY, from)],
  [/^Unexpected scalar at node end/, (text, from) => grammar(isAmongItems(text, from) ? ITEM : KEY, from)],
  [/^Missing closing/, (text) => token('found unexpected end of stream', text.length - 1)],
  [/^Anchor cannot be|^Alias cannot be/, (_, from) => token(NAME, from)],
  [/^Invalid escape sequence/, (_, from) => token('found unknown escape character', from)],
  [/^Missing directives-end/, () => token('found unknown directive name', 0)],
  [/^Block scalar header/, (_, from) => token('did not find expected comment or line break', from)],
  [/^Unexpected block-seq-ind/, (_, from) => token(ENTRIES, from)],
];

const START = 'found character that cannot start any token';
const NAME = 'did not find expected alphabetic or numeric character';
const ENTRIES = 'block sequence entries are not allowed in this context';

function faultOf(text: string, errors: readonly YAMLParseError[]): Fault {
  // A key over several lines comes with a guess about nesting; only its end counts.
  const long = errors.find(({ code }) => code === 'MULTILINE_IMPLICIT_KEY');
  const first = long !== undefined && errors[0]!.code === 'BLOCK_AS_IMPLICIT_KEY' ? long : errors[0]!;
  const [from, to] = first.pos;
  const known = FAULTS.find(([beginning]) => beginning.test(first.message));
  return known ? known[1](text, from, to) : grammar(KEY, from);
}

const nextToken = (text: string, from: number): number => {
  const found = text.slice(from).search(/\S/);
  return found < 0 ? text.length : from + found;
};

/** Inside an open mapping, the line lacks a colon; elsewhere, the colon is unexpected. */
function longKey(text: string, from: number, to: number): Fault {
  const start = text.lastIndexOf('\n', from - 1) + 1;
  const indent = text.slice(start, from);
  const isSibling = text
    .slice(0, start)
    .split('\n')
    .some((line) => line.startsWith(indent) && /^[^\s#-][^#]*:(\s|$)/.test(line.slice(indent.length)));
  return token(/^ *$/.test(indent) && isSibling ? COLON : VALUE, to);
}

const lastBefore = (text: string, at: number): string => text.slice(0, at).trimEnd().at(-1) ?? '';

const isValueMissing = (text: string, at: number): boolean => ['', ':', '-'].includes(lastBefore(text, at));

/** The line above begins an item at the same column. */
function isAmongItems(text: string, at: number): boolean {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const indent = text.slice(start, at);
  return /^ *$/.test(indent) && new RegExp(`^${indent}- `, 'm').test(text.slice(0, start));
}

/** Inside a flow collection that continues where it should have ended. */
const inFlow = (text: string, at: number): string =>
  '[{,:'.includes(lastBefore(text, at)) ? NODE : between(text, at);

const between = (text: string, at: number): string =>
  `did not find expected ',' or '${openBracket(text, at) === '[' ? ']' : '}'}'`;

/** The innermost open bracket at a position. */
function openBracket(text: string, at: number): string {
  const open: string[] = [];
  const parts = text.slice(0, at).match(/"(?:[^"\\]|\\.)*"|'[^']*'|[[\]{}]/g) ?? [];
  for (const part of parts) {
    if (part === '[' || part === '{') open.push(part);
    else if (part === ']' || part === '}') open.pop();
  }
  return open.at(-1) ?? '{';
}
