//! Which addresses the proxy never connects to, whoever has asked for a name that leads there.
//!
//! One table. An address that none of its rows is about is public; of IPv6 only what is handed out as public is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is no public one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Somebody's own network, or what nobody has in public and some therefore use for their own (examples, benchmarks):
    /// may be granted by name with `private = true`. The others never are.
    Private,
    Loopback,
    LinkLocal,
    /// Answers questions about the machine and its credentials, in some cloud.
    Metadata,
    Multicast,
    Unspecified,
    /// An IPv4 address in disguise, which would have to be looked at again.
    Embedded,
    Reserved,
}

impl Kind {
    /// As it fits after "is a".
    pub fn name(self) -> &'static str {
        match self {
            Kind::Private => "private address",
            Kind::Loopback => "loopback address",
            Kind::LinkLocal => "link-local address",
            Kind::Metadata => "metadata service",
            Kind::Multicast => "multicast address",
            Kind::Unspecified => "unspecified address",
            Kind::Embedded => "disguised IPv4 address",
            Kind::Reserved => "reserved address",
        }
    }
}

/// The first row that an address lies in is about it: exceptions come before what they lie in.
const VERSION_4: [([u8; 4], u32, Kind); 21] = [
    ([0, 0, 0, 0], 8, Kind::Unspecified),
    ([100, 100, 100, 200], 32, Kind::Metadata),
    ([10, 0, 0, 0], 8, Kind::Private),
    ([100, 64, 0, 0], 10, Kind::Private),
    ([127, 0, 0, 0], 8, Kind::Loopback),
    ([168, 63, 129, 16], 32, Kind::Metadata),
    ([169, 254, 169, 254], 32, Kind::Metadata),
    ([169, 254, 170, 2], 32, Kind::Metadata),
    ([169, 254, 0, 0], 16, Kind::LinkLocal),
    ([172, 16, 0, 0], 12, Kind::Private),
    ([192, 0, 0, 192], 32, Kind::Metadata),
    ([192, 0, 0, 0], 24, Kind::Reserved),
    ([192, 0, 2, 0], 24, Kind::Private),
    ([192, 88, 99, 0], 24, Kind::Embedded),
    ([192, 168, 0, 0], 16, Kind::Private),
    ([198, 18, 0, 0], 15, Kind::Private),
    ([198, 51, 100, 0], 24, Kind::Private),
    ([203, 0, 113, 0], 24, Kind::Private),
    ([224, 0, 0, 0], 4, Kind::Multicast),
    ([255, 255, 255, 255], 32, Kind::Multicast),
    ([240, 0, 0, 0], 4, Kind::Reserved),
];

const VERSION_6: [([u16; 8], u32, Kind); 18] = [
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Kind::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Kind::Loopback),
    // Mapped, and translated: `::ffff:0:0/96`, `::ffff:0:0:0/96`; compatible: `::/96`.
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, Kind::Embedded),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Kind::Embedded),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, Kind::Embedded),
    // NAT64, for everybody and of one's own.
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, Kind::Embedded),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Kind::Embedded),
    // Teredo and what else is not for machines; 6to4.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Kind::Embedded),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Kind::Reserved),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Kind::Private),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Kind::Embedded),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Kind::Private),
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, Kind::Metadata),
    ([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, Kind::Metadata),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Kind::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Kind::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Kind::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Kind::Multicast),
];

/// All public addresses of IPv6 begin like this.
const PUBLIC_6: ([u16; 8], u32) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// `None`: public.
pub fn kind(address: IpAddr) -> Option<Kind> {
    match address {
        IpAddr::V4(address) => {
            let lies = |net: [u8; 4], bits| within_4(address, Ipv4Addr::from(net), bits);
            VERSION_4.iter().find(|(net, bits, _)| lies(*net, *bits)).map(|(_, _, kind)| *kind)
        }
        IpAddr::V6(address) => {
            let lies = |net: [u16; 8], bits| within_6(address, Ipv6Addr::from(net), bits);
            let row = VERSION_6.iter().find(|(net, bits, _)| lies(*net, *bits));
            let elsewhere = || (!lies(PUBLIC_6.0, PUBLIC_6.1)).then_some(Kind::Reserved);
            row.map(|(_, _, kind)| *kind).or_else(elsewhere)
        }
    }
}

fn within_4(address: Ipv4Addr, net: Ipv4Addr, bits: u32) -> bool {
    let differing = address.to_bits() ^ net.to_bits();
    differing.checked_shr(32_u32.saturating_sub(bits)).unwrap_or(0) == 0
}

fn within_6(address: Ipv6Addr, net: Ipv6Addr, bits: u32) -> bool {
    let differing = address.to_bits() ^ net.to_bits();
    differing.checked_shr(128_u32.saturating_sub(bits)).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_name_may_lead_and_where_not() {
        let refused: &[(Kind, &[&str])] = &[
            (Kind::Unspecified, &["0.0.0.0", "0.1.2.3", "0.255.255.255", "::"]),
            (Kind::Private, &["10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255"]),
            (Kind::Private, &["172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"]),
            (Kind::Private, &["fc00::", "fdff:ffff::1", "fec0::1"]),
            (Kind::Loopback, &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]),
            (Kind::LinkLocal, &["169.254.0.0", "169.254.255.255", "fe80::", "febf::1"]),
            (Kind::Metadata, &["169.254.169.254", "169.254.170.2", "100.100.100.200"]),
            (Kind::Metadata, &["192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"]),
            (Kind::Multicast, &["224.0.0.0", "239.255.255.255", "255.255.255.255", "ff02::1"]),
            (
                Kind::Embedded,
                &["::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8"],
            ),
            (Kind::Embedded, &["64:ff9b::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1"]),
            (Kind::Embedded, &["2002:808:808::1", "2002:7f00:1::", "2001::1", "192.88.99.1"]),
            (Kind::Private, &["192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1"]),
            (Kind::Private, &["203.0.113.255", "2001:db8::1", "3fff::1"]),
            (Kind::Reserved, &["192.0.0.1", "240.0.0.1", "255.255.255.254"]),
            (Kind::Reserved, &["2001:1ff::1", "2001:2::1", "100::1"]),
            (Kind::Reserved, &["5f00::1", "4000::1", "1fff::1", "e000::1", "::1:0:0:0:1"]),
        ];
        for (expected, addresses) in refused {
            for address in *addresses {
                let address: IpAddr = address.parse().expect(address);
                assert_eq!(kind(address), Some(*expected), "{address}");
            }
        }
    }

    #[test]
    fn what_lies_beside_is_public() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2600:1901::1",
            "3ffe::1",
        ] {
            let address: IpAddr = address.parse().expect(address);
            assert_eq!(kind(address), None, "{address}");
        }
    }

    #[test]
    fn only_somebodys_own_network_can_be_granted() {
        for row in VERSION_4.map(|row| row.2).into_iter().chain(VERSION_6.map(|row| row.2)) {
            assert_eq!(row == Kind::Private, row.name() == "private address", "{row:?}");
        }
    }
}
