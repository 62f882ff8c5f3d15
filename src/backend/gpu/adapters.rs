//! The adapters of this machine, and which one to use.

use wgpu::DeviceType;

/// A graphics adapter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// Its driver, with version.
    pub driver: String,
    /// What kind it is: `discrete`, `integrated`, `virtual`, `cpu` (software) or `other`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// An adapter with what matters of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The adapter.
    pub adapter: wgpu::Adapter,
    /// What it is called.
    pub described: Adapter,
    /// Whether it is a program on the CPU.
    pub software: bool,
}

/// Every adapter of this machine, the order being that of their indices.
///
/// Vulkan, Metal and DX12 only: the OpenGL twin of an adapter is the same card again.
pub fn enumerate() -> Vec<Found> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Validation layers and debug names cost time and print; the tests have checks of their own.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(instance.enumerate_adapters(backends))
        .into_iter()
        .map(|adapter| {
            let info = adapter.get_info();
            let kind = match info.device_type {
                DeviceType::DiscreteGpu => "discrete",
                DeviceType::IntegratedGpu => "integrated",
                DeviceType::VirtualGpu => "virtual",
                DeviceType::Cpu => "cpu",
                DeviceType::Other => "other",
            };
            let driver = format!("{} {}", info.driver, info.driver_info);
            Found {
                described: Adapter {
                    name: info.name,
                    driver: driver.trim().to_owned(),
                    kind,
                },
                software: info.device_type == DeviceType::Cpu,
                adapter,
            }
        })
        .collect()
}

/// The best adapter: discrete before integrated before the rest, software only if it is allowed.
pub fn choose(found: &[Found], allow_software: bool) -> Option<usize> {
    let rank = |found: &Found| match found.described.kind {
        "discrete" => 0,
        "integrated" => 1,
        "virtual" => 2,
        "other" => 3,
        _ => 4,
    };
    (0..found.len())
        .filter(|&index| allow_software || !found[index].software)
        .min_by_key(|&index| rank(&found[index]))
}

/// The adapter that a user asked for, by index or by part of its name (any case).
///
/// # Errors
/// If none fits, or the name fits several: a message that lists the adapters.
pub fn by_name(found: &[Found], wanted: &str) -> Result<usize, String> {
    let list = || {
        if found.is_empty() {
            return "this machine has no adapter".to_owned();
        }
        let lines: Vec<String> = found
            .iter()
            .enumerate()
            .map(|(index, found)| format!("  {index}: {}", found.described.name))
            .collect();
        format!("the adapters are\n{}", lines.join("\n"))
    };
    if let Ok(index) = wanted.parse::<usize>() {
        if index < found.len() {
            return Ok(index);
        }
        return Err(format!("--adapter {wanted}: no such index; {}", list()));
    }
    let lower = wanted.to_lowercase();
    let fitting: Vec<usize> = (0..found.len())
        .filter(|&index| found[index].described.name.to_lowercase().contains(&lower))
        .collect();
    match fitting[..] {
        [index] => Ok(index),
        [] => Err(format!(
            "--adapter \"{wanted}\": no name contains this; {}",
            list()
        )),
        _ => Err(format!(
            "--adapter \"{wanted}\": several names contain this, give an index; {}",
            list()
        )),
    }
}
