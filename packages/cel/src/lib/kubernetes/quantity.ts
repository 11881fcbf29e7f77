// quantity(): Kubernetes resource quantities.

import {
  addQuantities,
  compareQuantities,
  integerQuantity,
  negateQuantity,
  parseQuantity,
  type Quantity,
  quantityAsInteger,
  quantityAsNumber,
} from '@lapse/base/quantity';
import { fn, fnAt, type Library, member, overload, working } from '../../declarations.ts';
import { toInt } from '../../numbers.ts';
import { sizeOf, traversal } from '../../sizes.ts';
import { BOOL, DOUBLE, INT, STRING, structOf } from '../../types.ts';
import { Double, fail, isInt, Opaque, type Value } from '../../values.ts';

const QUANTITY = structOf('kubernetes.Quantity');

class QuantityValue extends Opaque {
  readonly opaqueQuantity: Quantity;

  constructor(amount: Quantity) {
    super();
    this.opaqueQuantity = amount;
  }

  opaqueType() {
    return QUANTITY;
  }

  opaqueEquals(other: Value): boolean {
    return (
      other instanceof QuantityValue && compareQuantities(this.opaqueQuantity, other.opaqueQuantity) === 0
    );
  }
}

function read(text: Value): Value | undefined {
  if (typeof text !== 'string') return undefined;
  const parsed = parseQuantity(text);
  return 'problem' in parsed ? fail(parsed.problem) : new QuantityValue(parsed.quantity);
}

const isQuantity = (text: Value) =>
  typeof text === 'string' ? 'quantity' in parseQuantity(text) : undefined;

const on = (body: (q: Quantity) => Value) => (v: Value) =>
  v instanceof QuantityValue ? body(v.opaqueQuantity) : undefined;

const onTwo = (body: (a: Quantity, b: Quantity) => Value) => (a: Value, b: Value) =>
  a instanceof QuantityValue && b instanceof QuantityValue
    ? body(a.opaqueQuantity, b.opaqueQuantity)
    : undefined;

/** Adds or subtracts a quantity or an int. */
const plus = (sign: 1 | -1) => (a: Value, b: Value) => {
  if (!(a instanceof QuantityValue)) return undefined;
  const other =
    b instanceof QuantityValue ? b.opaqueQuantity : isInt(b) ? integerQuantity(BigInt(b)) : undefined;
  if (other === undefined) return undefined;
  return new QuantityValue(addQuantities(a.opaqueQuantity, sign === 1 ? other : negateQuantity(other)));
};

const asInteger = (q: Quantity): Value => {
  const value = quantityAsInteger(q);
  return value === undefined ? fail('cannot convert value to integer') : toInt(value);
};

const readCost = (a: Value) => traversal(sizeOf(a));

export const KUBERNETES_QUANTITY: Library = {
  name: 'kubernetes quantity',
  functions: working(
    60,
    fnAt(readCost, 'quantity', overload('string_to_quantity', [STRING], QUANTITY, read)),
    fnAt(readCost, 'isQuantity', overload('is_quantity_string', [STRING], BOOL, isQuantity)),
    fn(
      'sign',
      overload(
        'quantity_sign',
        [QUANTITY],
        INT,
        on((q) => (q.unscaled > 0n ? 1 : q.unscaled < 0n ? -1 : 0)),
      ),
    ),
    fn(
      'isGreaterThan',
      member(
        'quantity_is_greater_than',
        [QUANTITY, QUANTITY],
        BOOL,
        onTwo((a, b) => compareQuantities(a, b) > 0),
      ),
    ),
    fn(
      'isLessThan',
      member(
        'quantity_is_less_than',
        [QUANTITY, QUANTITY],
        BOOL,
        onTwo((a, b) => compareQuantities(a, b) < 0),
      ),
    ),
    fn('compareTo', member('quantity_compare_to', [QUANTITY, QUANTITY], INT, onTwo(compareQuantities))),
    fn(
      'asApproximateFloat',
      member(
        'quantity_get_float',
        [QUANTITY],
        DOUBLE,
        on((q) => new Double(quantityAsNumber(q))),
      ),
    ),
    fn('asInteger', member('quantity_get_int', [QUANTITY], INT, on(asInteger))),
    fn(
      'isInteger',
      member(
        'quantity_is_integer',
        [QUANTITY],
        BOOL,
        on((q) => quantityAsInteger(q) !== undefined),
      ),
    ),
    fn(
      'add',
      member('quantity_add', [QUANTITY, QUANTITY], QUANTITY, plus(1)),
      member('quantity_add_int', [QUANTITY, INT], QUANTITY, plus(1)),
    ),
    fn(
      'sub',
      member('quantity_sub', [QUANTITY, QUANTITY], QUANTITY, plus(-1)),
      member('quantity_sub_int', [QUANTITY, INT], QUANTITY, plus(-1)),
    ),
  ),
};
