//! Bad input gets a clear error and loses nothing.

use std::io::Read;
use std::process::Stdio;

use crate::support::Place;

#[test]
fn files_that_are_not_what_they_should_be() {
    let place = Place::new();
    place.write("ragged.csv", "1,2\n3\n");
    place.write("words.csv", "a,b\n1,x\n");
    place.write("broken.npy", b"\x93NUMPY\x01\x00nonsense");
    place.write("picture.bmp", b"BM");
    place.write("picture.xyz", b"BM");
    place.write("empty.csv", "");
    place.refused("recover missing.csv", &["missing.csv", "no such file"]);
    place.refused("recover raged.csv", &["no such file", "did you mean ragged.csv"]);
    place.refused("denoise camra", &["camra", "bundled set `camera`"]);
    place.refused("recover .", &["this is a folder"]);
    // A folder is a film there.
    place.refused("denoise .", &["picture.bmp", "complete image"]);
    place.refused("recover ragged.csv", &["ragged.csv", "line 2"]);
    place.refused("recover words.csv", &["words.csv", "line 2"]);
    place.refused("recover broken.npy", &["broken.npy"]);
    place.refused("recover picture.bmp", &["picture.bmp", "complete image"]);
    place.refused("recover picture.xyz", &["picture.xyz", "npy"]);
    place.refused("recover empty.csv", &["empty.csv"]);
}

#[test]
fn options_that_do_not_fit() {
    let place = Place::new();
    place.write("y.csv", "1,2\n3,4\n");
    place.write("mask.csv", "1,2\n0,1\n");
    place.write("small.csv", "1\n0\n");
    place.refused("recover y.csv --mask mask.csv", &["mask.csv", "row 1, column 2", "0 and 1"]);
    place.refused("recover y.csv --mask small.csv", &["small.csv", "expected 2×2"]);
    place.refused("recover y.csv --penalty mpc", &["mpc", "mcp"]);
    place.refused("recover y.csv --penalty mcp:mu=-1", &["mu"]);
    place.refused("recover y.csv --penalty mcp:nu=1", &["nu", "mu"]);
    place.refused("recover y.csv --gamma 1/0", &["--gamma", "7/12"]);
    place.refused("recover y.csv --gamma -1 --method melmo", &["gamma"]);
    place.refused("recover y.csv --method melmoo", &["melmoo", "'melmo'"]);
    place.refused("recover y.csv --method melmo --step 1", &["step", "melmo"]);
    place.refused("recover y.csv --method melmo --beta 100", &["β = 100", "1/(2ρ)"]);
    place.refused("recover y.csv --geometry cubic", &["cubic", "spectral"]);
    place.refused("recover y.csv --geometry W=l2", &["W"]);
    place.refused("recover y.csv --time-limit soon", &["--time-limit", "5m"]);
    place.refused("recover y.csv --trace t.txt", &["t.txt", ".csv"]);
    place.refused("recover y.csv -o x.png", &["x.png", ".npy"]);
    place.refused("recover y.csv --resume", &["--checkpoint"]);
    place.refused("recover y.csv --checkpoint none.ck --resume", &["none.ck"]);
    place.refused("factorize y.csv --rank 3", &["--rank", "1 to 2"]);
    place.refused("factorize y.csv", &["--rank"]);
    place.refused("factorize y.csv --rank 1 --init-w y.csv", &["y.csv", "2×1"]);
    place.refused("recovr y.csv", &["recover"]);
    place.refused("verify nowhere", &["nowhere", "--result"]);
    place.refused("verify y.csv", &["y.csv", "this is a file"]);
    place.refused("verify y.cvs", &["there is no such folder", "did you mean y.csv?"]);
    place.refused("denoise camera --out-dir y.csv", &["this is a file; expected a folder"]);
    place.refused("recover y.csv -o .", &["this is a folder"]);
    place.refused("denoise camera -o .", &["this is a folder"]);
    place.refused("deblur camera --kernel gausian:2", &["did you mean the kernel `gaussian`?"]);
    place.refused("denoise camera --prior lerned", &["did you mean `learned`?"]);
    place.refused("recover y.csv --device cdua", &["did you mean `cuda`?"]);
    place.refused("recover y.csv --config y.cvs", &["there is no such file", "did you mean y.csv?"]);
    place.refused("explain --method newton", &["newton", "epoch-constant"]);
}

#[test]
fn existing_files_are_kept() {
    let place = Place::new();
    place.write("x.npy", "precious");
    place.write("t.csv", "precious");
    place.refused("recover miserables --iterations 5 -o x.npy", &["x.npy", "--force"]);
    place.refused("recover miserables --iterations 5 --trace t.csv", &["t.csv", "--force"]);
    assert_eq!(place.read("x.npy"), "precious");
    place.done("recover miserables --iterations 5 -o x.npy --trace t.csv --force -q");
    assert_eq!(melmo_data::npy::read(&place.file("x.npy")).unwrap().shape, [77, 77]);
    // A folder with other things in it is no result to replace.
    std::fs::create_dir(place.file("folder")).unwrap();
    place.write("folder/thesis.tex", "precious");
    place.refused("recover miserables --iterations 5 --result folder --force", &["folder", "other files"]);
    assert_eq!(place.read("folder/thesis.tex"), "precious");
}

#[test]
fn places_that_cannot_be_written_to() {
    let place = Place::new();
    place.refused("recover miserables --iterations 5 -o nowhere/x.npy", &["nowhere", "does not exist"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir(place.file("locked")).unwrap();
        std::fs::set_permissions(place.file("locked"), std::fs::Permissions::from_mode(0o555)).unwrap();
        // The superuser may write anywhere.
        if std::fs::write(place.file("locked/probe"), "").is_err() {
            place.refused("recover miserables --iterations 5 -o locked/x.npy", &["locked"]);
        } else {
            std::fs::remove_file(place.file("locked/probe")).unwrap();
        }
    }
}

#[test]
fn a_pipe_that_is_closed_early_is_no_error() {
    let place = Place::new();
    for arguments in ["list", "recover miserables --iterations 20 -o x.npy --json"] {
        let mut child = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(child.wait().unwrap().success() && !told.contains("panicked"), "{arguments}: {told}");
    }
    assert_eq!(place.names(), ["x.npy"], "the result is written whoever reads the summary");
}

#[test]
fn json_is_alone_on_standard_output() {
    let place = Place::new();
    let ran = place.done("recover miserables --method melmo --iterations 20 --json");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((told["command"].as_str(), told["iterations"].as_u64()), (Some("recover"), Some(20)));
}

/// Copies that know nothing of one another would all do the same, and overwrite what the others write.
#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_is_not_started_several_times() {
    let place = Place::new();
    place.write("y.csv", "1,2\n3,4\n");
    let started = |rank: &str, size: &str| {
        let mut command = place.command("recover y.csv -o x.npy -q");
        command.env("OMPI_COMM_WORLD_RANK", rank).env("OMPI_COMM_WORLD_SIZE", size).output().unwrap()
    };
    let (first, second) = (started("0", "4"), started("1", "4"));
    assert_eq!((first.status.code(), second.status.code()), (Some(2), Some(2)));
    let said = String::from_utf8_lossy(&first.stderr);
    assert!(said.contains("mpirun started 4 copies") && said.contains("--features mpi"), "{said}");
    assert!(second.stderr.is_empty() && !place.file("x.npy").exists());
    assert_eq!(started("0", "1").status.code(), Some(0));
    assert!(place.file("x.npy").exists());
}
