//! bindgen MODULE.wasm FOLDER: the module without its descriptions, and the JavaScript that calls it, as a plain script.

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &given[..] else {
        eprintln!("bindgen: a module and a folder are needed");
        std::process::exit(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let made = bindgen.input_path(module).typescript(false).remove_name_section(true).no_modules(true).map(|bindgen| bindgen.generate(folder));
    if let Err(error) = made.and_then(|made| made) {
        eprintln!("bindgen: {error:#}");
        std::process::exit(1);
    }
}
