// One colour per kind, most frequent kinds first. The colours are distinguishable in light and dark mode and with
// common colour blindness, and never the only sign of anything.

import type { PageData } from './data.ts';

export const LIGHT = [
  '#3563c9',
  '#b4580a',
  '#0f7d6c',
  '#8a4bb5',
  '#b13668',
  '#5a7012',
  '#2c7ea8',
  '#7a5c3e',
  '#4a4fa3',
  '#00707f',
  '#8a6a00',
  '#5c6470',
] as const;
export const DARK = [
  '#8fb0ff',
  '#f2a65a',
  '#5fd0ba',
  '#c79bf0',
  '#f08db4',
  '#b3cc5c',
  '#77c6ee',
  '#d0ad88',
  '#a9aef5',
  '#4fd2e3',
  '#e3c04f',
  '#b4bcc8',
] as const;

export const COLOURS = LIGHT.length;

/** Kinds that have a mark in the timeline, each with the index of its colour, most frequent first. */
export function legendOf({ kinds, rows }: PageData): { readonly colour: number; readonly name: string }[] {
  const seen = new Set(rows.map(({ kind }) => kind));
  return kinds
    .map((name, index) => ({ name, index }))
    .filter(({ index }) => seen.has(index))
    .slice(0, COLOURS)
    .map(({ name, index }) => ({ name, colour: index % COLOURS }));
}
