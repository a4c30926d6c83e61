#!/bin/sh
# Called by the compiler instead of its linker: calls that, and writes the executable anew, in large pieces (see build.rs). What cannot be
# written anew stays as it is.
"$@" || exit
written=
for word do
    [ "$before" = -o ] && written=$word
    before=$word
done
if [ -f "$written" ] && [ -x "$written" ]; then
    # The copy is there for its mode: what is in it is written anew, in pieces of a large page each.
    if cp -p "$written" "$written.whole" 2>/dev/null &&
        dd if="$written" of="$written.whole" bs=2M iflag=fullblock status=none 2>/dev/null; then
        mv -f "$written.whole" "$written"
    else
        rm -f "$written.whole"
    fi
fi
exit 0
