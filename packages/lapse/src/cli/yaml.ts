// YAML for kubectl, which reads YAML 1.1: there `yes`, `on`, `1_000` and `0b11` are not strings, so such strings must
// be quoted. All commands write YAML with this file.

import { type ScalarTag, stringify } from 'yaml';
import { stringTag } from 'yaml/util';

/**
 * Values that are numbers in Go but not in the specification (`-_1`, `0X1F`, `+0o17`). Only used to detect strings.
 */
const numberOfGo: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  identify: () => false,
  test: /^[-+]?_*(?:0_*[xX][\da-fA-F_]+|0_*[oO][0-7_]+|0_*[bB][01_]+|(?:\._*)?\d[\d_]*\.?[\d_]*(?:[eE][-+]?[\d_]+)?)$/,
  resolve: (text) => text,
};

/** Characters that parsers reject or treat as line ends, or that change the text direction on a terminal. */
const UNPRINTABLE =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/;

/** In a block scalar, a leading tab is an error in Go, and whitespace alone is lost. */
const BAD_BLOCK = /^[ \n]*\t|^\s+$/;

/** Quoted, with all unprintable characters escaped. */
const escaped = (text: string): string =>
  JSON.stringify(text).replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const text: ScalarTag = {
  ...stringTag,
  stringify(item, context, onComment, onChompKeep) {
    const value = String(item.value);
    if (UNPRINTABLE.test(value) || BAD_BLOCK.test(value)) return escaped(value);
    return stringTag.stringify!(item, context, onComment, onChompKeep);
  },
};

export interface YamlOptions {
  /** Lists are indented below their key. Default: true. */
  readonly indentSeq?: boolean;
}

/** One document. Lines are never wrapped. Repeated values are written in full, without anchors. */
export const yamlText = (value: unknown, { indentSeq = true }: YamlOptions = {}): string =>
  stringify(value, {
    compat: 'yaml-1.1',
    customTags: (tags) => [text, numberOfGo, ...tags],
    lineWidth: 0,
    aliasDuplicateObjects: false,
    indentSeq,
  });

/** Several documents, as `kubectl apply --filename -` accepts them. */
export const yamlDocuments = (values: readonly object[]): string =>
  values.map((value) => yamlText(value)).join('---\n');
