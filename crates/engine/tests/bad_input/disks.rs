//! A disk of two megabytes: what does not fit is said, and what was there stays.

use crate::case::{Case, Place, battery, case};

pub fn cases() -> Vec<Case> {
    let fills = [
        "yes > f",
        "yes >> f",
        "yes | cat > f",
        "yes | head -c 50000000 | tee f > /dev/null",
        "seq 1 10000000 > f",
        "seq 1 400000 | sort > f",
        "printf '%3000000s' > f",
        "cat <<< $(printf '%3000000s') > f",
        "yes | head -c 3000000 > f",
        "tr '\\0' a < /dev/zero > f",
        "yes | grep y > f",
        "for ((;;)); do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx || break; done > f",
        "{ yes; } > f",
        "exec 3> f; yes >&3",
        "yes > >(cat > f); wait",
        "seq 1 1000000 | uniq -c > f",
        "cat /dev/zero > f",
    ];
    let mut cases: Vec<Case> = fills
        .iter()
        .map(|fill| {
            let script = format!("echo precious > f; {fill}; cat f; ls; echo x > g && cat g");
            case(format!("disks::{fill}"), script)
                .says("No space left on device")
                .place(Place::SmallDisk)
                // The disk is its end, which it may reach late on a busy machine.
                .in_any_way()
        })
        .collect();
    cases.extend([
        battery("disks::full", [
            "yes > full 2>/dev/null; head -c 1500000 /dev/zero > big; cp big copy; cp -r . d; sort big -o other; ls", "for i in {1..100000}; do echo x > f$i || break; done 2>&1 | tail -n 1", "for i in {1..100000}; do mkdir d$i || break; done 2>&1 | tail -n 1", "i=0; while ln -s x$i l$i; do ((i++)); done 2>&1 | tail -n 1",
            "head -c 1900000 /dev/zero > big; rm big; ls; head -c 1900000 /dev/zero > big; mv big /tmp/big; rm /tmp/big; head -c 1000 /dev/zero > small && wc -c small", "head -c 1900000 /dev/zero > /tmp/x; yes > /tmp/y; rm /tmp/x /tmp/y; echo x > f; cat f", "cat << X > /tmp/z\n$(printf '%3000000s')\nX", "mktemp; x=$(yes | head -c 3000000); echo ${#x}; read y <<< $x; echo ${#y}", "seq 1 1000000 | sort -S 1k | tail -n 1",
        ].iter().map(|script| script.as_bytes().to_vec()).collect()).place(Place::SmallDisk).endless().memory(300),
    ]);
    cases
}
